import {
  accountIdOf,
  Conflict,
  InvalidInput,
  UserNotFound,
  rootUserId,
  type Range,
  type User,
  type UserId,
} from "@rangewright/domain"
import { ArtifactLibrary, GuestAutomation, Ranges, Sources, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { hostFailures } from "../ansible/installed.ts"
import { payerOfRange } from "../range/payer-of-range.ts"
import { updateRouters } from "../range/router-access.ts"
import { bringInLine, ofAccounts } from "../rights/in-line.ts"
import { staysPending } from "../rights/revocation-pending.ts"
import { whenInstallationIdle } from "../run/installation-gate.ts"
import { rangeRequest } from "../run/request.ts"
import { RunEngine } from "@rangewright/run-engine"
import { deleteSource } from "../source/delete-source.ts"

/**
 * Fails unless the range is the user's own: named after them, or charged to them. Any range that a user may use can be their default, and
 * stays it when they may no longer use it: it must not be deleted with its machines because somebody else's account ends.
 */
const requireOwn = Effect.fnUntraced(function* (range: Range, user: User) {
  if (String(range.id) === user.id || (yield* payerOfRange(range)) === user.id) return
  return yield* new Conflict({
    what: `Cannot delete user ${user.id}: their default range ${range.id} is not their own`,
    hint: `Leave out deleteDefaultRange to delete the user alone. To delete the range: DELETE /range?rangeID=${encodeURIComponent(range.id)}&force=true.`,
  })
})

/**
 * Removes a user, in this order: with `deleteDefaultRange` the default range (VMs, network, pool); the sources with what they installed;
 * what is installed for the user and what the user's roles kept; the row with its grants and group memberships; the account and its rights
 * on the hypervisor; then the routers are updated. What is gone already is not a failure, so the call may be repeated until the row is gone;
 * what the hypervisor refuses after that is `RevocationPending`. Returns the ranges whose routers could not be updated, and those that
 * stay: the default range, and ranges that the user had directly and nobody has now. Waits first while a run changes the whole
 * installation.
 */
export const removeUser = (target: UserId, caller: User, options: { readonly deleteDefaultRange: boolean }) =>
  Effect.gen(function* () {
    const users = yield* Users
    const ranges = yield* Ranges
    const sources = yield* Sources
    const guests = yield* GuestAutomation
    if (target === rootUserId) return yield* new InvalidInput({ what: "Cannot delete user ROOT: it is the built-in account" })
    if (target === caller.id)
      return yield* new InvalidInput({
        what: `Cannot delete user ${target}: nobody can delete their own account`,
        hint: "Ask another administrator.",
      })
    const user = yield* whenInstallationIdle(`delete user ${target}`, () =>
      Effect.flatMap(users.find(target), (found) =>
        found === undefined ? Effect.fail(new UserNotFound({ userId: target })) : Effect.succeed(found),
      ),
    )
    if (options.deleteDefaultRange && user.defaultRangeId !== undefined) {
      const range = yield* ranges.find(user.defaultRangeId)
      if (range !== undefined) {
        yield* requireOwn(range, user)
        const engine = yield* RunEngine
        const run = yield* engine.start(rangeRequest(range, { kind: "delete-range", force: true }), caller.id)
        const end = yield* engine.wait(run.id)
        if (end.status !== "success")
          return yield* new Conflict({
            what: `Cannot delete user ${target}: their default range ${range.id} could not be deleted: ${end.message}`,
            hint: `GET /runs/${run.id} shows what remains; repeat the call when that is fixed.`,
          })
      }
    }
    // also removes what the sources installed, which deleting the rows would leave behind
    for (const source of yield* sources.list({ owner: target })) yield* deleteSource(source, caller.id)
    // a later user with the same ID must not inherit what roles kept
    yield* guests.forget?.(target) ?? Effect.void
    // an installation in progress either finishes before the row is removed, and is removed too, or finds the row gone and is refused
    const { removeUser: emptyLibrary } = yield* ArtifactLibrary
    const grants = yield* ranges.grantsOf(target)
    const had = new Set(grants.map(({ rangeId }) => rangeId))
    const own = new Set(grants.flatMap(({ rangeId, accessType }) => (accessType === "Direct" ? [rangeId] : [])))
    yield* hostFailures(emptyLibrary(user, users.remove(target)))
    const doing = `remove user ${target}`
    const concerns = ofAccounts([accountIdOf(user)])
    yield* staysPending(doing)(bringInLine({ doing, by: caller.id, concerns }))
    const concerned = (yield* ranges.list()).filter(({ id }) => had.has(id))
    const { failed } = yield* updateRouters({ doing, by: caller.id }, concerned)
    const staying = yield* Effect.filter(
      concerned.filter(({ id }) => own.has(id)),
      ({ id }) => Effect.map(ranges.grants(id), (others) => id === user.defaultRangeId || others.length === 0),
    )
    return { untold: failed.map(({ range }) => range.id), staying: staying.map(({ id }) => id) }
  })
