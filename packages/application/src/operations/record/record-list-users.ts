import { rootUserId } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { recordOfUser } from "../../accounts/user-record.ts"
import { operation } from "../../operation/operation.ts"
import { UserRecord } from "../../wire/user.ts"
import { filterRecords, pageOf, pageQuery, recordPage } from "./page.ts"

export const recordListUsers = operation({
  id: "recordListUsers",
  route: "GET /api/collections/users/records",
  base: "/",
  group: "User",
  origin: "page",
  does: "list users",
  summary: "Users as records: oneself, or all for an administrator",
  access: "user",
  target: "none",
  query: pageQuery,
  output: { type: "json", schema: recordPage(UserRecord) },
  statuses: { 200: "one page of users", 400: "the filter is not understood", 401: "no valid credentials" },
  handle: ({ query, user }) =>
    Effect.gen(function* () {
      const users = yield* Users
      const visible = user.isAdmin ? (yield* users.list).filter((u) => u.id !== rootUserId) : [user]
      const records = yield* Effect.forEach(visible, (u) => recordOfUser(u, { withEmail: true }))
      return pageOf(yield* filterRecords(records, query.filter), query)
    }),
})
