import type { SlotAnswer, SlotQueue } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Limited resources of the hypervisor, for several processes that share a store. */
export interface SharedSlots {
  /**
   * Replaces the demands of this process for some resources, and shares these among all processes (`shareSlots` of the domain), one process at a
   * time for each resource. `leaseSeconds`: how long leases last.
   */
  readonly share: (queues: readonly SlotQueue[], leaseSeconds: number) => Effect.Effect<readonly SlotAnswer[], StorageFault>
}

/** Undefined when the process does not share its store: then it shares slots among its own runs only. */
export const SharedSlots = Context.Reference<SharedSlots | undefined>("rangewright/SharedSlots", {
  defaultValue: () => undefined,
})
