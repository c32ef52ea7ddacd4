import type { Action, Json, NetworkSpec } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HypervisorFault } from "./faults.ts"
import type { Dispatched } from "./hypervisor.ts"

export type NetworkAction = Extract<Action, { readonly kind: "create-network" | "remove-network" }>

/** A network as it is. `usable` is false while a change waits to be applied; a node may lack it nevertheless (`ObservedZone`). */
export interface ObservedNetwork {
  readonly spec: NetworkSpec
  readonly usable: boolean
  /** True when it carries our comment or alias. */
  readonly ours: boolean
  /** Whether it takes cards with a VLAN tag, as routers have: on one that does not, a VM with such a card does not start. */
  readonly vlanAware: boolean
}

/**
 * Layer-2 networks: bridges of nodes and VNets of the cluster. Applying is part of the action; one apply serves all that wait. A VNet whose
 * creation has settled stands on every node that the action names and that is online, also where a node had missed it before.
 */
export class HypervisorNetwork extends Context.Service<
  HypervisorNetwork,
  {
    /** Bridges and VNets by name. `node` narrows bridges to one node. */
    readonly observe: Effect.Effect<readonly ObservedNetwork[], HypervisorFault>
    readonly dispatch: (action: NetworkAction) => Effect.Effect<Dispatched, HypervisorFault>
    readonly settle: (action: NetworkAction, token: Json) => Effect.Effect<void, HypervisorFault>
  }
>()("rangewright/HypervisorNetwork") {}
