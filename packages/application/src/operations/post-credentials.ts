import { Forbidden, InvalidInput, UserNotFound, rootUserId, type UserId } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { setPassword } from "../accounts/change-password.ts"
import { requireCurrentPassword } from "../accounts/current-password.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

const id = "postCredentials"

export const postCredentials = operation({
  id,
  route: "POST /user/credentials",
  group: "User",
  does: "set a password",
  summary: "Set the password of a user, here and on the hypervisor",
  access: "user",
  accessNote: "self, or an administrator",
  target: "none",
  wholeKeyOnly: true,
  query: { userID: Schema.optionalKey(Schema.String) },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      userID: Schema.optionalKey(Schema.String),
      proxmoxPassword: Schema.String,
      /** Only read with a session, which needs it to change its own user's password. */
      currentPassword: Schema.optionalKey(Schema.String),
    }),
  },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the password was changed in both places",
    400: "the password is missing or not acceptable; ROOT has no password; with a session: the current password is missing or wrong, or too many wrong ones came before",
    403: "the password of another user needs an administrator",
    404: "no user has this ID",
    502: "the hypervisor is unreachable or refused the password",
  },
  handle: ({ body, user, caller, session, meta }) =>
    Effect.gen(function* () {
      const users = yield* Users
      const targetId = (body.userID === undefined || body.userID === "" ? user.id : body.userID) as UserId
      if (targetId !== user.id && !user.isAdmin)
        return yield* new Forbidden({ reason: "You are not an admin and cannot update the password for another user" })
      if (targetId === rootUserId) return yield* new InvalidInput({ what: "Cannot set the password of ROOT: it has none" })
      const target = yield* users.find(targetId)
      if (target === undefined) return yield* new UserNotFound({ userId: targetId })
      // a new password would turn a stolen session into a lasting way in
      if (session !== undefined && target.id === caller.id)
        yield* requireCurrentPassword(target, body.currentPassword, { id, meta })
      yield* setPassword(target, body.proxmoxPassword, caller.id)
      return { result: `Password of ${targetId} changed` }
    }),
})
