import { accountIdOf, InvalidInput, rootUserId, type User } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { bringInLine, ofAccounts } from "../rights/in-line.ts"
import { staysPending } from "../rights/revocation-pending.ts"

/** Why `by` may not change this user's rights, worded to follow a colon; undefined: nothing about these two users forbids it. */
export const whyNotTheirs = (target: User, by: User): string | undefined => {
  if (target.id === rootUserId) return "it is the built-in account"
  return target.id === by.id ? "nobody can change their own rights; ask another administrator" : undefined
}

/**
 * Grants or revokes administrator rights, here and on the hypervisor. Effective for all following requests, including those with existing
 * keys and tokens. A promotion that the hypervisor refuses is undone. Revoked rights stay revoked here, whatever the hypervisor says:
 * `RevocationPending`.
 */
export const setAdmin = Effect.fnUntraced(function* (target: User, isAdmin: boolean, by: User) {
  const because = whyNotTheirs(target, by)
  if (because !== undefined) return yield* new InvalidInput({ what: `Cannot change the rights of user ${target.id}: ${because}` })
  const users = yield* Users
  const changed = yield* users.setAdmin(target.id, isAdmin)
  const doing = isAdmin ? `make user ${target.id} an administrator` : `revoke the administrator rights of user ${target.id}`
  const inLine = bringInLine({ doing, by: by.id, concerns: ofAccounts([accountIdOf(target)]) })
  if (!isAdmin) {
    yield* staysPending(doing)(inLine)
    return changed
  }
  const undo = Effect.andThen(users.setAdmin(target.id, false), inLine).pipe(Effect.ignore)
  yield* inLine.pipe(Effect.onError(() => (target.isAdmin ? Effect.void : undo)))
  return changed
})
