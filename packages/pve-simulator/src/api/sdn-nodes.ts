import { failure } from "../core/errors.ts"
import { nicsOf } from "../core/guest-config.ts"
import type { NodeState, SdnObject } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { nodeOf, text, type Call, type Routes } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"

/** The state that a node reports for a zone, or for a VNet with a message. */
export interface NodeSdnStatus {
  readonly status: "available" | "pending" | "error"
  readonly statusmsg?: string
}

const neverMade = "local sdn network configuration is not yet generated, please reload"
const tooOld = "local sdn network configuration is too old, please reload"
const notThere = "vnet is not generated. Please check the 'reload' task log."

const spans = (zone: SdnObject, node: NodeState): boolean => {
  const nodes = splitList(String(zone["nodes"] ?? ""))
  return nodes.length === 0 || nodes.includes(node.name)
}

/** Zones of the applied configuration that the node belongs to, by id. */
const zonesHere = (world: World, node: NodeState): ReadonlyMap<string, SdnObject> =>
  new Map([...world.state.sdn.running.zones].filter(([, zone]) => spans(zone, node)))

/** The state of a zone's applied VNets on the node; a node that missed an apply reports all as pending. */
const vnetStates = (world: World, node: NodeState, zone: string): ReadonlyMap<string, NodeSdnStatus> => {
  const { running, version } = world.state.sdn
  const stateOf = (vnet: string): NodeSdnStatus => {
    if (node.sdnVersion === 0) return { status: "pending", statusmsg: neverMade }
    if (node.sdnVersion < version) return { status: "pending", statusmsg: tooOld }
    return node.vnets.has(vnet) ? { status: "available" } : { status: "error", statusmsg: notThere }
  }
  return new Map([...running.vnets].flatMap(([id, vnet]) => (vnet["zone"] === zone ? [[id, stateOf(id)] as const] : [])))
}

/** The zones of a node: `pending` if it missed the last apply, `error` if it could not create a VNet of the zone. */
export const zoneStates = (world: World, node: NodeState): ReadonlyMap<string, NodeSdnStatus["status"]> => {
  const stateOf = (zone: string): NodeSdnStatus["status"] => {
    if (node.sdnVersion < world.state.sdn.version) return "pending"
    const lacks = [...vnetStates(world, node, zone).values()].some(({ status }) => status === "error")
    return lacks ? "error" : "available"
  }
  return new Map([...zonesHere(world, node).keys()].map((zone) => [zone, stateOf(zone)] as const))
}

/** A reload of the node reads the applied configuration. If it succeeds, the VNets exist; otherwise those that existed before remain. */
export const adoptSdn = (world: World, node: NodeState, made: boolean): void => {
  const { running, version } = world.state.sdn
  node.sdnVersion = version
  if (!made) return
  const here = zonesHere(world, node)
  node.vnets.clear()
  for (const [id, vnet] of running.vnets) if (here.has(String(vnet["zone"]))) node.vnets.add(id)
}

const listZones = (call: Call): unknown[] =>
  [...zoneStates(call.world, nodeOf(call))]
    .filter(([zone]) => may(call.world, call.identity, `/sdn/zones/${zone}`, ["SDN.Audit", "SDN.Allocate"], true))
    .map(([zone, status]) => ({ zone, status }))

const zoneOf = (call: Call): string => {
  const zone = text(call, "zone")
  demand(call.world, call.identity, `/sdn/zones/${zone}`, ["SDN.Audit"])
  if (!zonesHere(call.world, nodeOf(call)).has(zone)) throw failure(`no such zone '${zone}'`)
  return zone
}

const content = (call: Call): unknown[] =>
  [...vnetStates(call.world, nodeOf(call), zoneOf(call))].map(([vnet, state]) => ({ vnet, ...state }))

/** The existing bridges of a zone's VNets on the node, each with the cards of running guests on it. */
const bridges = (call: Call): unknown[] => {
  const { world } = call
  const node = nodeOf(call)
  const running = [...world.state.guests.values()].filter((guest) => guest.node === node.name && guest.status === "running")
  return [...vnetStates(world, node, zoneOf(call)).keys()]
    .filter((vnet) => node.vnets.has(vnet))
    .map((vnet) => ({
      name: vnet,
      vlan_filtering: world.state.sdn.running.vnets.get(vnet)?.["vlanaware"] === 1 ? "1" : "0",
      ports: running.flatMap(({ vmid, config }) =>
        nicsOf(config)
          .filter(({ bridge }) => bridge === vnet)
          .map(({ index, tag }) => ({
            name: `tap${vmid}i${index}`,
            index: `net${index}`,
            vmid,
            ...(tag === undefined ? {} : { primary_vlan: tag }),
          })),
      ),
    }))
}

/** The state of the applied SDN configuration on each node. */
export const sdnNodeRoutes: Routes = {
  "GET /nodes/{node}/sdn": () => [{ name: "zones" }],
  "GET /nodes/{node}/sdn/zones": listZones,
  "GET /nodes/{node}/sdn/zones/{zone}": () => [{ subdir: "content" }, { subdir: "bridges" }],
  "GET /nodes/{node}/sdn/zones/{zone}/content": content,
  "GET /nodes/{node}/sdn/zones/{zone}/bridges": bridges,
}
