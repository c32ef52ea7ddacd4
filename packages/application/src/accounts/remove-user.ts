import { Conflict, InvalidInput, UserNotFound, rootUserId, type Fault, type User, type UserId } from "@rangewright/domain"
import { HypervisorAccess, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { RunEngine } from "../run/run-engine.ts"

/**
 * Removes a user: with `deleteDefaultRange` the default range first (VMs, network, pool), then the hypervisor account, then the row with
 * its grants. What is gone already is no failure, so the call may be repeated after one.
 */
export const removeUser = (
  target: UserId,
  caller: User,
  options: { readonly deleteDefaultRange: boolean },
): Effect.Effect<void, Fault, Users | Ranges | HypervisorAccess | RunEngine> =>
  Effect.gen(function* () {
    const users = yield* Users
    if (target === rootUserId)
      return yield* Effect.fail(new InvalidInput({ what: "Cannot delete user ROOT: it is the account the service starts with" }))
    if (target === caller.id)
      return yield* Effect.fail(
        new InvalidInput({
          what: `Cannot delete user ${target}: nobody can delete their own account`,
          hint: "Ask another administrator.",
        }),
      )
    const user = yield* users.find(target)
    if (user === undefined) return yield* Effect.fail(new UserNotFound({ userId: target }))
    if (options.deleteDefaultRange && user.defaultRangeId !== undefined) {
      const range = yield* (yield* Ranges).find(user.defaultRangeId)
      if (range !== undefined) {
        const engine = yield* RunEngine
        const run = yield* engine.start(range, { kind: "delete-range", force: true }, caller.id)
        const end = yield* engine.wait(run.id)
        if (end.status !== "success")
          return yield* Effect.fail(
            new Conflict({
              what: `Cannot delete user ${target}: their default range ${range.id} could not be deleted: ${end.message}`,
              hint: `GET /runs/${run.id} tells what remains; repeat the call when it is mended.`,
            }),
          )
      }
    }
    yield* (yield* HypervisorAccess).removeUser({ username: user.hypervisorUsername, realm: user.hypervisorRealm })
    yield* users.remove(target)
  })
