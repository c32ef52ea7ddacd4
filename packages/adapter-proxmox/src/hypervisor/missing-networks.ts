import type { MachineRef } from "@rangewright/domain"
import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { lacksAfter } from "../network/vnet-nodes.ts"
import { detailOf } from "../wire/vm-config.ts"
import type { MachineContext } from "./machine-kind.ts"

/**
 * Brings up a VM's VNets on its node when they are in force but missing there: the node missed an apply since the deploy checked, or the VM
 * moved to a node it was not planned for. Returns their names; empty when none was missing. Fails when a VNet cannot be brought up.
 */
export const bringNetworks = Effect.fnUntraced(function* (
  context: MachineContext,
  ref: MachineRef,
  doing: string,
): Effect.fn.Return<readonly string[], HypervisorFault> {
  const found = yield* context.identity.locate(ref, doing)
  if (found === undefined) return []
  const { node, config } = found
  const wanted = new Set(detailOf(node, ref.vmid, config).nics.map(({ bridge }) => bridge))
  const brought: string[] = []
  for (const { spec: network, usable } of yield* context.networks.observe) {
    if (network.type !== "vnet" || !usable || !wanted.has(network.name)) continue
    if ((yield* lacksAfter(context.client, network, [node], doing, 0)).length === 0) continue
    yield* context.networks.settle({ kind: "create-network", network, nodes: [node] }, { apply: true })
    brought.push(network.name)
  }
  return brought
})
