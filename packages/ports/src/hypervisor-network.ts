import type { Action, Json, NetworkSpec } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HypervisorFault } from "./faults.ts"
import type { Dispatched } from "./hypervisor.ts"

export type NetworkAction = Extract<Action, { readonly kind: "create-network" | "remove-network" }>

/**
 * The observed state of a network. `usable` is false while a change waits to be applied; even a usable one may be missing on a node
 * (`ObservedZone`).
 */
export interface ObservedNetwork {
  readonly spec: NetworkSpec
  readonly usable: boolean
  /** True if it carries our comment or alias. */
  readonly ours: boolean
  /** Whether it accepts network cards with a VLAN tag, as routers have. On one that does not, a VM with such a card fails to start. */
  readonly vlanAware: boolean
}

/**
 * Layer-2 networks: bridges of nodes and VNets of the cluster. Actions include applying the change; one apply serves all pending actions.
 * Once the creation of a VNet has settled, it exists on every online node that the action names, even one that had missed it before.
 */
export class HypervisorNetwork extends Context.Service<
  HypervisorNetwork,
  {
    /** All bridges and VNets. */
    readonly observe: Effect.Effect<readonly ObservedNetwork[], HypervisorFault>
    readonly dispatch: (action: NetworkAction) => Effect.Effect<Dispatched, HypervisorFault>
    readonly settle: (action: NetworkAction, token: Json) => Effect.Effect<void, HypervisorFault>
  }
>()("rangewright/HypervisorNetwork") {}
