import type { HypervisorFault } from "@rangewright/ports"
import type * as Effect from "effect/Effect"

/** `done`: in force. `pending`: written, and in force only when applied. */
export type Written = "done" | "pending"

/** How one sort of network is made and removed. The past forms apply what is pending and prove the effect. */
export interface NetworkKind<S> {
  readonly create: (spec: S) => Effect.Effect<Written, HypervisorFault>
  /** `nodes`: where it has to stand; absent: on all that it spans and that are online. */
  readonly created: (spec: S, nodes?: readonly string[]) => Effect.Effect<void, HypervisorFault>
  readonly remove: (spec: S) => Effect.Effect<Written, HypervisorFault>
  readonly removed: (spec: S) => Effect.Effect<void, HypervisorFault>
}
