import { accountIdOf, defineFault, type Fault, pendingAccess, type RangeId, type User, type UserId } from "@rangewright/domain"
import { AccessRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { readDesired } from "./compare.ts"
import { bringInLine, ofAccounts } from "./in-line.ts"

/** A revocation that is done here, but not on the hypervisor yet. Here it stays revoked. */
export class RevocationPending extends defineFault(
  "RevocationPending",
  "unavailable",
  (f: { readonly doing: string; readonly because: string }) => ({
    message: `Cannot ${f.doing} on the hypervisor yet; it is done here: ${f.because}`,
    hint: "It is done there as soon as the hypervisor accepts it; until then GET /access shows it as pending. Nothing needs to be repeated.",
  }),
) {}

/** A revocation that is done here and on the hypervisor, but not on these ranges' routers yet. It stays revoked. */
export class RouterPending extends defineFault(
  "RouterPending",
  "failed",
  (f: { readonly doing: string; readonly ranges: readonly RangeId[]; readonly because: string }) => ({
    message: `Cannot ${f.doing} on the router of ${f.ranges.join(", ")} yet; it is done here and on the hypervisor: ${f.because}`,
    hint: "The router is updated as soon as it can be; until then GET /access and the range's drift show it. Nothing needs to be repeated.",
  }),
) {}

/** Maps the failure of a revocation: what is stored stays, and the hypervisor is updated in the background. */
export const staysPending =
  (doing: string) =>
  <A, R>(revocation: Effect.Effect<A, Fault, R>): Effect.Effect<A, RevocationPending, R> =>
    Effect.mapError(revocation, (fault) => new RevocationPending({ doing, because: fault.message }))

/**
 * Completes earlier revocations of these users that are still pending on the hypervisor, before they are reported as done. Makes no call
 * when there are none.
 */
export const endRevocations = ({ doing, by }: { readonly doing: string; readonly by: UserId }, users: readonly User[]) =>
  Effect.gen(function* () {
    const records = yield* AccessRecords
    const { held } = yield* records.held
    const { revocations } = pendingAccess(held, yield* readDesired)
    if (revocations.length === 0 || users.length === 0) return
    yield* staysPending(doing)(bringInLine({ doing, by, concerns: ofAccounts(users.map(accountIdOf)) }))
  })
