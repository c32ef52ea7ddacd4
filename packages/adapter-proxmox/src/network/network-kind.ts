import type { HypervisorFault } from "@rangewright/ports"
import type * as Effect from "effect/Effect"

/** `done`: in force. `pending`: written, and in force only when applied. */
export type Written = "done" | "pending"

/** How one kind of network is created and removed. The past forms apply what is pending and verify the effect. */
export interface NetworkKind<S> {
  readonly create: (spec: S) => Effect.Effect<Written, HypervisorFault>
  /** `nodes`: where it must exist; absent: on all online nodes that it spans. */
  readonly created: (spec: S, nodes?: readonly string[]) => Effect.Effect<void, HypervisorFault>
  readonly remove: (spec: S) => Effect.Effect<Written, HypervisorFault>
  readonly removed: (spec: S) => Effect.Effect<void, HypervisorFault>
}
