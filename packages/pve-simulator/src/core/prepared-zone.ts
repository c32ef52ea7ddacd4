import type { SdnView, State } from "./state.ts"

/** The VNet of the NAT network, as installations of range managers name it. */
const natVnet = "ludusnat"
/** The highest VXLAN tag there is: no range's tag meets it. */
const natTag = 16_777_215

const view = (zone: string, peers: string): SdnView => ({
  zones: new Map([[zone, { type: "vxlan", zone, peers }]]),
  vnets: new Map([[natVnet, { type: "vnet", vnet: natVnet, zone, tag: natTag, vlanaware: 1 }]]),
  subnets: new Map(),
})

/** What an administrator prepares on a cluster before ranges can use it: a VXLAN zone over all nodes with the NAT network's VNet, applied. */
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
