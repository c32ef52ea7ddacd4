import { rootUserId } from "@rangewright/domain"
import { Quotas, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { pageOf, pageQuery } from "../operation/page.ts"
import { UserObject, userObject } from "../wire/user.ts"

export const listAllUsers = operation({
  id: "listAllUsers",
  route: "GET /user/all",
  group: "User",
  does: "list all users",
  summary: "All users but ROOT",
  access: "admin",
  target: "none",
  query: pageQuery(["userNumber", "userID", "name", "dateCreated", "dateLastActive"], UserObject.fields),
  output: { type: "marked-json", schema: Schema.Array(UserObject) },
  statuses: {
    200: "all users, or those that the query asks for",
    400: "sort, limit, cursor or fields is not valid for this list",
  },
  handle: ({ query }) =>
    Effect.gen(function* () {
      const users = yield* Users
      const quotas = yield* Quotas
      const all = yield* users.list
      const { ofUsers } = yield* quotas.limits
      const shown = all.filter(({ id }) => id !== rootUserId).map((user) => userObject(user, ofUsers.get(user.id)))
      const emails = new Map(all.map(({ id, email }) => [id as string, email]))
      return yield* pageOf("list all users", shown, query, {
        id: "userNumber",
        texts: ({ userID, name }) => [userID, name, emails.get(userID) ?? ""],
      })
    }),
})
