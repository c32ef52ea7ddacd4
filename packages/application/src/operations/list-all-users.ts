import { rootUserId } from "@rangewright/domain"
import { Quotas, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { UserObject, userObject } from "../wire/user.ts"

export const listAllUsers = operation({
  id: "listAllUsers",
  route: "GET /user/all",
  group: "User",
  does: "list all users",
  summary: "All users but ROOT",
  access: "admin",
  target: "none",
  output: { type: "json", schema: Schema.Array(UserObject) },
  statuses: { 200: "all users" },
  handle: () =>
    Effect.gen(function* () {
      const users = yield* Users
      const quotas = yield* Quotas
      const all = yield* users.list
      const { ofUsers } = yield* quotas.limits
      return all.filter(({ id }) => id !== rootUserId).map((user) => userObject(user, ofUsers.get(user.id)))
    }),
})
