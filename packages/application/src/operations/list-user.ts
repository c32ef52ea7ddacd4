import { Quotas } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { UserObject, userObject } from "../wire/user.ts"

export const listUser = operation({
  id: "listUser",
  route: "GET /user",
  group: "User",
  does: "read a user",
  summary: "The user acted as",
  access: "user",
  target: "none",
  query: { userID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: Schema.Array(UserObject) },
  statuses: { 200: "a list that holds the one user" },
  handle: ({ user }) =>
    Effect.map(
      Quotas.use((quotas) => quotas.ofUser(user.id)),
      (limits) => [userObject(user, limits)],
    ),
})
