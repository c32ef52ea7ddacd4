import type { HeldAccess, RangeId, StoredAccess } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RecordDamaged, StaleVersion, StorageFault } from "./faults.ts"

/** No user's number. A router that was being told when this was written may have learnt it or not. */
export const beingTold = 0

/** What access on the hypervisor and on routers follows from, and what the service has given there. */
export class AccessRecords extends Context.Service<
  AccessRecords,
  {
    /** Who should have what, as it is stored at one moment. */
    readonly stored: Effect.Effect<StoredAccess, StorageFault>
    /** The same with no machine, which are most of it. */
    readonly withoutMachines: Effect.Effect<StoredAccess, StorageFault>
    /** All of it with no range but this one; none where it does not exist. */
    readonly storedOf: (range: RangeId) => Effect.Effect<StoredAccess, StorageFault>
    /** What the service has put on the hypervisor, or may have. The version goes up with each write, from 0 for what was never written. */
    readonly held: Effect.Effect<{ readonly held: HeldAccess; readonly version: number }, RecordDamaged | StorageFault>
    /** Replaces it where nobody else has since it was read. */
    readonly hold: (held: HeldAccess, version: number) => Effect.Effect<void, StaleVersion | StorageFault>
    /**
     * Whom each range's router was last told to let in, by numbers of users; with `beingTold` among them: who it may let in. Ranges whose router
     * was told nothing since the service keeps this are missing.
     */
    readonly told: Effect.Effect<ReadonlyMap<RangeId, readonly number[]>, StorageFault>
    /** A range that is gone takes this along; of one that does not exist nothing is kept. */
    readonly tell: (range: RangeId, users: readonly number[]) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/AccessRecords") {}
