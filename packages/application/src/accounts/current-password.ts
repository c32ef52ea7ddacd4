import { InvalidInput, type User } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { RequestMeta } from "../operation/request-meta.ts"
import { SignIns } from "../sign-in/sign-ins.ts"
import { isPasswordOf } from "./is-password-of.ts"

const hint =
  "Enter the current one. If you do not know it, ask an administrator for an invitation, or set the password with your API key."

/** Fails unless this is the user's password, before it is replaced. Guessing is as slow as at sign-in. */
export const requireCurrentPassword = Effect.fnUntraced(function* (
  user: User,
  sent: string | undefined,
  { id, meta }: { readonly id: string; readonly meta: RequestMeta },
) {
  const signIns = yield* SignIns
  const refused = (because: string, whatToDo = hint) =>
    new InvalidInput({ what: `Cannot set the password of ${user.id}: ${because}`, hint: whatToDo })
  if (sent === undefined || sent === "") return yield* refused("with a session the current password is needed as well")
  const judge = Effect.map(isPasswordOf(user, sent), (right) => ({ user, right }))
  const known = yield* signIns
    .attempt({ operation: id, account: user.email, address: meta.remote }, judge)
    .pipe(
      Effect.catchTag("TooManyAttempts", (fault) =>
        Effect.fail(refused(`${fault.message.charAt(0).toLowerCase()}${fault.message.slice(1)}`, fault.hint)),
      ),
    )
  if (known === undefined) return yield* refused("the current password is wrong")
})
