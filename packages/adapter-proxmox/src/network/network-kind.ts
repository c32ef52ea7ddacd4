import type { HypervisorFault } from "@rangewright/ports"
import type * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import type { AwaitOtherApplies } from "./other-applies.ts"

/** `done`: in force. `pending`: written, and in force only when applied. */
export type Written = "done" | "pending"

/**
 * Simultaneous reloads of a node interfere, and an SDN apply reloads every node: one apply at a time. A gate of this process instead of a
 * slot that instances share, which a step would hold from its writing on: then none could be applied with another's.
 */
export interface ApplyTurn {
  readonly gate: Semaphore.Semaphore
  /** Applies that this process did not begin are waited for before one begins. */
  readonly others: AwaitOtherApplies
}

/** How one kind of network is created and removed. The past forms apply what is pending and verify the effect. */
export interface NetworkKind<S> {
  readonly create: (spec: S) => Effect.Effect<Written, HypervisorFault>
  /** `nodes`: where it must exist; absent: on all online nodes that it spans. */
  readonly created: (spec: S, nodes?: readonly string[]) => Effect.Effect<void, HypervisorFault>
  readonly remove: (spec: S) => Effect.Effect<Written, HypervisorFault>
  readonly removed: (spec: S) => Effect.Effect<void, HypervisorFault>
}
