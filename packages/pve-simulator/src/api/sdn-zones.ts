import { badParameter, failure } from "../core/errors.ts"
import type { SdnObject } from "../core/state.ts"
import { optionalText, text, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { checkDigest, edit, viewOf } from "./sdn-views.ts"

const common = ["nodes", "mtu", "dns", "reversedns", "dnszone", "ipam"]

/** Allowed and required options by zone type. */
const types: Readonly<Record<string, { readonly allowed: readonly string[]; readonly needed: readonly string[] }>> = {
  simple: { allowed: [...common, "dhcp"], needed: [] },
  vlan: { allowed: [...common, "bridge", "bridge-disable-mac-learning"], needed: ["bridge"] },
  qinq: { allowed: [...common, "bridge", "tag", "vlan-protocol"], needed: ["tag", "bridge"] },
  vxlan: { allowed: [...common, "peers", "vxlan-port", "fabric"], needed: [] },
  evpn: {
    allowed: [
      ...common,
      "controller",
      "vrf-vxlan",
      "mac",
      "exitnodes",
      "exitnodes-primary",
      "exitnodes-local-routing",
      "advertise-subnets",
      "disable-arp-nd-suppression",
      "rt-import",
      "secondary-controllers",
    ],
    needed: ["vrf-vxlan", "controller"],
  },
  faucet: { allowed: [...common, "controller", "dp-id"], needed: [] },
}

const steering = new Set(["zone", "type", "lock-token", "digest", "delete"])

const properties = (call: Call): SdnObject =>
  Object.fromEntries(
    Object.entries(call.parameters)
      .filter(([key]) => !steering.has(key))
      .map(([key, value]) => [key, Array.isArray(value) ? value.join(",") : (value as string | number)]),
  )

const checkProperties = (type: string, given: SdnObject): void => {
  const rules = types[type]!
  for (const key of Object.keys(given)) if (!rules.allowed.includes(key)) throw failure(`unexpected property '${key}'`)
}

const checkNeeded = (zone: SdnObject): void => {
  for (const key of types[String(zone["type"])]!.needed)
    if (zone[key] === undefined) throw failure(`missing value for required option '${key}'`)
}

const checkVxlan = (zone: SdnObject): void => {
  if (zone["type"] !== "vxlan" || (zone["peers"] === undefined) !== (zone["fabric"] === undefined)) return
  const text = "must have exactly one of peers / fabric defined"
  throw badParameter({ fabric: text, peers: text })
}

const checkNodes = (call: Call, zone: SdnObject): void => {
  for (const name of splitList(String(zone["nodes"] ?? ""))) {
    if (!call.world.state.nodes.has(name)) throw badParameter({ nodes: `node '${name}' does not exist` })
  }
}

const list = (call: Call): unknown[] => {
  const type = optionalText(call, "type")
  return [...viewOf(call, "zone")]
    .filter(
      ([id, zone]) =>
        may(call.world, call.identity, `/sdn/zones/${id}`, ["SDN.Audit", "SDN.Allocate"], true) &&
        (type === undefined || zone["type"] === type),
    )
    .map(([, zone]) => zone)
}

const get = (call: Call): unknown => {
  const zone = viewOf(call, "zone").get(text(call, "zone"))
  if (zone === undefined) throw failure(`sdn '${text(call, "zone")}' does not exist`)
  return zone
}

const create = (call: Call): null => {
  const id = text(call, "zone")
  const type = text(call, "type")
  const given = properties(call)
  checkProperties(type, given)
  checkNeeded({ ...given, type })
  return edit(call, "create sdn zone object failed", () => {
    const { zones } = call.world.state.sdn.config
    if (zones.has(id)) throw failure(`sdn zone object ID '${id}' already defined`)
    const zone = { type, zone: id, ...given }
    checkVxlan(zone)
    checkNodes(call, zone)
    zones.set(id, zone)
  })
}

const update = (call: Call): null => {
  const id = text(call, "zone")
  const { zones } = call.world.state.sdn.config
  const old = zones.get(id)
  if (old === undefined) throw failure(`sdn '${id}' does not exist`)
  const given = properties(call)
  checkProperties(String(old["type"]), given)
  return edit(call, "update sdn zone object failed", () => {
    checkDigest(call, "zone")
    const removed = new Set(splitList(optionalText(call, "delete") ?? ""))
    const zone = Object.fromEntries(Object.entries({ ...old, ...given }).filter(([key]) => !removed.has(key)))
    checkNeeded(zone)
    checkVxlan(zone)
    checkNodes(call, zone)
    zones.set(id, zone)
  })
}

const remove = (call: Call): null => {
  const id = text(call, "zone")
  return edit(call, "delete sdn zone object failed", () => {
    const { zones, vnets } = call.world.state.sdn.config
    if (!zones.has(id)) throw failure(`sdn '${id}' does not exist`)
    const user = [...vnets].toSorted(([a], [b]) => (a < b ? -1 : 1)).find(([, vnet]) => vnet["zone"] === id)
    if (user !== undefined)
      throw failure(`zone ${id} is used by vnet ${user[0]} at /usr/share/perl5/PVE/Network/SDN/Zones/Plugin.pm line 149.`)
    zones.delete(id)
  })
}

/** SDN zones. */
export const sdnZoneRoutes: Routes = {
  "GET /cluster/sdn/zones": list,
  "POST /cluster/sdn/zones": create,
  "GET /cluster/sdn/zones/{zone}": get,
  "PUT /cluster/sdn/zones/{zone}": update,
  "DELETE /cluster/sdn/zones/{zone}": remove,
}
