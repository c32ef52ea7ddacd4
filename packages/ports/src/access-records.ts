import type { HeldAccess, RangeId, StoredAccess } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RecordDamaged, StaleVersion, StorageFault } from "./faults.ts"

/** A number that no user has: while it is stored, a router may or may not have received the list. */
export const beingTold = 0

/** The data from which access on the hypervisor and on routers follows, and what the service has put there. */
export class AccessRecords extends Context.Service<
  AccessRecords,
  {
    /** Who should have access to what, read in one consistent snapshot. */
    readonly stored: Effect.Effect<StoredAccess, StorageFault>
    /** The same without machines, which are most of the data. */
    readonly withoutMachines: Effect.Effect<StoredAccess, StorageFault>
    /** The same with only this range; no range if it does not exist. */
    readonly storedOf: (range: RangeId) => Effect.Effect<StoredAccess, StorageFault>
    /** What the service has put on the hypervisor, or may have. The version increases with each write; 0 if never written. */
    readonly held: Effect.Effect<{ readonly held: HeldAccess; readonly version: number }, RecordDamaged | StorageFault>
    /** Replaces it, unless somebody else has since it was read. */
    readonly hold: (held: HeldAccess, version: number) => Effect.Effect<void, StaleVersion | StorageFault>
    /**
     * The user numbers that each range's router was last told to let in; if `beingTold` is among them, those that it may let in. Ranges are
     * missing whose router was told nothing since the service began to store this.
     */
    readonly told: Effect.Effect<ReadonlyMap<RangeId, readonly number[]>, StorageFault>
    /** Removed with the range; does nothing for a range that does not exist. */
    readonly tell: (range: RangeId, users: readonly number[]) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/AccessRecords") {}
