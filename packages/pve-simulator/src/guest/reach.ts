import { nicsOf } from "../core/guest-config.ts"
import { deviceTowards, hostAddresses } from "../core/host-network.ts"
import type { Guest } from "../core/state.ts"
import type { World } from "../core/world.ts"

/**
 * The layer-2 networks that a guest is on now: a bridge is local to its node, a VNet connects the nodes that have it, and VLANs are
 * separate. A card whose network does not exist on the guest's node, or that is being moved, is on none.
 */
const segmentsOf = (world: World, guest: Guest): ReadonlySet<string> => {
  const node = world.state.nodes.get(guest.node)
  if (node === undefined || guest.status !== "running" || world.faults.isNodeDown(guest.node)) return new Set()
  return new Set(
    nicsOf(guest.config).flatMap(({ index, bridge, tag }) => {
      if (bridge === undefined || world.unplugged.has(`${guest.vmid} net${index}`)) return []
      if (node.vnets.has(bridge)) return [`vnet ${bridge} ${tag ?? ""}`]
      return node.interfaces.has(bridge) ? [`bridge ${guest.node} ${bridge} ${tag ?? ""}`] : []
    }),
  )
}

/**
 * Whether a node and a running guest with this address can reach each other: the node's route to the address must leave through a device
 * (bridge or VNet) on whose untagged network (VLAN 1) the guest is.
 */
export const reachesHost = (world: World, nodeName: string, vmid: number, address: string): boolean => {
  const guest = world.state.guests.get(vmid)
  const node = world.state.nodes.get(nodeName)
  if (guest === undefined || node === undefined || world.faults.isNodeDown(nodeName)) return false
  const device = deviceTowards(node, address)
  if (device === undefined || !hostAddresses(node).some((one) => one.device === device)) return false
  const segment = node.vnets.has(device) ? `vnet ${device}` : `bridge ${nodeName} ${device}`
  const there = segmentsOf(world, guest)
  return there.has(`${segment} `) || there.has(`${segment} 1`)
}

/** Whether two running guests are on the same network, so that they can reach each other without a router. */
export const reaches = (world: World, from: number, to: number): boolean => {
  const [a, b] = [world.state.guests.get(from), world.state.guests.get(to)]
  if (a === undefined || b === undefined) return false
  const there = segmentsOf(world, b)
  return [...segmentsOf(world, a)].some((segment) => there.has(segment))
}
