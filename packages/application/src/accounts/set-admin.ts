import { accountIdOf, InvalidInput, rootUserId, type User } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { bringInLine, ofAccounts } from "../rights/in-line.ts"
import { staysPending } from "../rights/revocation-pending.ts"

/** Why `by` may not change the rights of this user, to follow a colon; undefined: they may, as far as both are concerned. */
export const whyNotTheirs = (target: User, by: User): string | undefined => {
  if (target.id === rootUserId) return "it is the built-in account"
  return target.id === by.id ? "nobody can change their own rights; ask another administrator" : undefined
}

/**
 * Makes a user an administrator, here and on the hypervisor, or takes the rights of one. Requests that follow are judged by it, also with keys
 * and tokens of before. A promotion that the hypervisor refuses is taken back. Rights that are taken stay taken here, whatever the hypervisor
 * says: `RevocationPending`.
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
