import { Unauthenticated } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { userOfToken } from "../access/credentials.ts"

/** The token of an invitation. */
export const Invitation = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4096))

export const refusedInvite = new Unauthenticated({
  reason: "Cannot use the invitation: it was already used, was invalidated by a change to your user, or has expired",
  hint: "Sign in with your password, or ask an administrator for another invitation.",
})

/** The user whom this invitation is for, with secrets; fails if it is not valid. */
export const invitedBy = Effect.fnUntraced(function* (invite: string) {
  const found = yield* userOfToken(invite, "invite")
  return found ?? (yield* refusedInvite)
})
