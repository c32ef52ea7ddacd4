import type { SlotAnswer, SlotQueue } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Distributes limited resources of the hypervisor among processes that share a store. */
export interface SharedSlots {
  /**
   * Replaces this process's demands for some resources, and shares these resources among all processes (`shareSlots` in the domain), one
   * process at a time per resource. `leaseSeconds`: how long leases last.
   */
  readonly share: (queues: readonly SlotQueue[], leaseSeconds: number) => Effect.Effect<readonly SlotAnswer[], StorageFault>
}

/** Undefined when the process does not share its store; it then shares slots among its own runs only. */
export const SharedSlots = Context.Reference<SharedSlots | undefined>("rangewright/SharedSlots", {
  defaultValue: () => undefined,
})
