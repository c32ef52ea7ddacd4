import type { SdnView, State } from "./state.ts"

/** The name of the NAT network's VNet in installations of range managers. */
const natVnet = "ludusnat"
/** The highest VXLAN tag, which no range uses. */
const natTag = 16_777_215

const view = (zone: string, peers: string): SdnView => ({
  zones: new Map([[zone, { type: "vxlan", zone, peers }]]),
  vnets: new Map([[natVnet, { type: "vnet", vnet: natVnet, zone, tag: natTag, vlanaware: 1 }]]),
  subnets: new Map(),
})

/**
 * Creates and applies what an administrator prepares before ranges use a cluster: a VXLAN zone over all nodes with the NAT network's VNet.
 */
export const prepareZone = (state: State, zone: string): void => {
  const nodes = [...state.nodes.values()]
  const peers = nodes.map((node) => node.address).join(",")
  state.sdn.config = view(zone, peers)
  state.sdn.running = view(zone, peers)
  state.sdn.version = 1
  for (const node of nodes) {
    node.sdnVersion = 1
    node.vnets.add(natVnet)
  }
}
