import { InvalidInput, rootUserId, type User } from "@rangewright/domain"
import { HypervisorAccess, HypervisorFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Why `by` may not change the rights of this user, to follow a colon; undefined: they may, as far as both are concerned. */
export const whyNotTheirs = (target: User, by: User): string | undefined => {
  if (target.id === rootUserId) return "it is the account the service starts with"
  return target.id === by.id ? "nobody can change their own rights; ask another administrator" : undefined
}

/** Takes back a promotion that the hypervisor did not take. */
const undone = (user: User) => Effect.ignore(Users.use((users) => users.setAdmin(user.id, false)))

/** Rights that were taken stay taken here, whatever the hypervisor says. */
const stillThere = (fault: HypervisorFault, user: User): HypervisorFault =>
  new HypervisorFault({
    ...fault.facts,
    hint: `${user.id} is no administrator of the service any more, but still one on the hypervisor. Repeat the call when it answers.`,
  })

/**
 * Makes a user an administrator, here and on the hypervisor, or takes the rights of one. Requests that follow are judged by it, also with keys
 * and tokens of before. Repeating it mends what a failure left: a promotion that the hypervisor refuses is taken back, and of somebody who loses
 * the rights the ones on the hypervisor alone may be left, which the fault says.
 */
export const setAdmin = Effect.fnUntraced(function* (target: User, isAdmin: boolean, by: User) {
  const because = whyNotTheirs(target, by)
  if (because !== undefined) return yield* new InvalidInput({ what: `Cannot change the rights of user ${target.id}: ${because}` })
  const changed = yield* (yield* Users).setAdmin(target.id, isAdmin)
  const account = { username: target.hypervisorUsername, realm: target.hypervisorRealm }
  yield* (yield* HypervisorAccess).setAdmin(account, isAdmin).pipe(
    Effect.mapError((fault) => (isAdmin ? fault : stillThere(fault, target))),
    Effect.onError(() => (isAdmin && !target.isAdmin ? undone(target) : Effect.void)),
  )
  return changed
})
