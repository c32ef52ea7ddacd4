import {
  accountIdOf,
  hasPassword,
  heldAsKnown,
  InvalidInput,
  passwordProblem,
  type User,
  userPasswordContext,
  type UserId,
} from "@rangewright/domain"
import { AccessRecords, HypervisorFault, SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { AccessControl } from "../rights/access-control.ts"
import { changeHeld } from "../rights/change-held.ts"
import { bringInLine, ofAccounts } from "../rights/in-line.ts"
import { newTokenKey } from "./identity.ts"

/** The version of the user's stored password. */
const versionOf = (user: User) =>
  Effect.map(
    AccessRecords.use((records) => records.withoutMachines),
    ({ users }) => users.find(({ id }) => id === user.id)?.passwordVersion,
  )

/**
 * Sets a user's password here and on the hypervisor, and invalidates all of the user's tokens. Restores the old password here if the
 * hypervisor refuses the new one.
 */
export const changePassword = (user: User, password: string, by: UserId) =>
  Effect.gen(function* () {
    const users = yield* Users
    const control = yield* AccessControl
    const secrets = yield* SecretStore
    const account = accountIdOf(user)
    const doing = `set the password of ${account}`
    const seen = yield* control.account(account)
    const obstacle = hasPassword(account) ? seen?.passwordObstacle : "the hypervisor does not store the passwords of its realm"
    if (obstacle !== undefined)
      return yield* new HypervisorFault({
        doing,
        reason: "forbidden",
        detail: obstacle,
        hint: "Set it on the hypervisor (Datacenter > Permissions > Users), or configure the service with a user and password instead of a token.",
      })
    // an account that the service has no record of yet has the password that is stored now
    const known = yield* versionOf(user)
    if (known !== undefined) yield* changeHeld((held) => heldAsKnown(held, account, known))
    const before = (yield* users.forAuthentication(user.id))?.secrets
    const sealedPassword = secrets.seal(password, userPasswordContext(user.id))
    yield* users.setSecrets(user.id, { sealedPassword, tokenKey: yield* newTokenKey })
    const own = yield* versionOf(user)
    const inLine = bringInLine({ doing, by, concerns: ofAccounts([account], { passwords: true }) })
    const undo = Effect.gen(function* () {
      // somebody else may have set another one meanwhile
      if (before === undefined || (yield* versionOf(user)) !== own) return
      yield* users.setSecrets(user.id, { sealedPassword: before.sealedPassword, tokenKey: before.tokenKey })
      yield* inLine
    }).pipe(Effect.ignore)
    yield* inLine.pipe(Effect.onError(() => undo))
  })

/** The same, but refuses a password that is easy to guess. */
export const setPassword = (user: User, password: string, by: UserId) => {
  const problem = password === "" ? "a password is needed" : passwordProblem(password, [user.id, user.name, user.email])
  return problem === undefined
    ? changePassword(user, password, by)
    : Effect.fail(new InvalidInput({ what: `Cannot set the password of ${user.id}: ${problem}` }))
}
