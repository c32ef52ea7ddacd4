import type { SlotAnswer, SlotQueue } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Scarce things of the world where several processes share a store. */
export interface SharedSlots {
  /**
   * Stores what this process has and wants of some things, in place of what it said of them before, and shares them out among all
   * processes (`shareSlots` of the domain), one at a time for each thing. `leaseSeconds`: how long leases are.
   */
  readonly share: (queues: readonly SlotQueue[], leaseSeconds: number) => Effect.Effect<readonly SlotAnswer[], StorageFault>
}

/** Undefined where the process has its store for itself: then it shares out alone what there is. */
export const SharedSlots = Context.Reference<SharedSlots | undefined>("rangewright/SharedSlots", {
  defaultValue: () => undefined,
})
