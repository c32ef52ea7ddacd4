import { UserNotFound, type UserId } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { setAdmin } from "../accounts/set-admin.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

export const setUserAdmin = operation({
  id: "setUserAdmin",
  route: "PUT /user/{userID}/admin",
  group: "User",
  origin: "ours",
  does: "change who is an administrator",
  summary: "Make a user an administrator, or revoke that",
  access: "admin",
  target: "none",
  path: { userID: Schema.String },
  body: { type: "json", required: true, schema: Schema.Struct({ isAdmin: Schema.Boolean }) },
  audited: ["isAdmin"],
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the user has the requested rights, here and on the hypervisor; existing keys and tokens have them immediately",
    400: "isAdmin is missing; ROOT is always an administrator; nobody can change their own rights",
    404: "no user has this ID",
    409: "no other administrator would be left",
    502: "the hypervisor is unreachable or refused; rights that were revoked are gone here all the same",
  },
  handle: ({ path, body, caller }) =>
    Effect.gen(function* () {
      const users = yield* Users
      const target = yield* users.find(path.userID as UserId)
      if (target === undefined) return yield* new UserNotFound({ userId: path.userID })
      yield* setAdmin(target, body.isAdmin, caller)
      return { result: `User ${target.id} ${body.isAdmin ? "is" : "is no longer"} an administrator` }
    }),
})
