import { BlockList, isIPv4 } from "node:net"
import { badParameter, failure } from "../core/errors.ts"
import type { SdnObject } from "../core/state.ts"
import { asText } from "../core/text.ts"
import { optionalText, text, type Call, type Routes } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { checkDigest, edit, type LeaseRange, leaseRanges, viewOf } from "./sdn-views.ts"

const steering = new Set(["vnet", "subnet", "lock-token", "digest", "delete", "type"])

const properties = (call: Call): SdnObject =>
  Object.fromEntries(
    Object.entries(call.parameters)
      .filter(([key]) => !steering.has(key))
      .map(([key, value]) => [key, Array.isArray(value) ? JSON.stringify(value) : (value as string | number)]),
  )

const vnetNamed = (call: Call): SdnObject => {
  const vnet = call.world.state.sdn.config.vnets.get(text(call, "vnet"))
  if (vnet === undefined) throw failure(`sdn vnet '${text(call, "vnet")}' does not exist`)
  return vnet
}

const overlay = new Set(["vxlan", "evpn"])

/** Checks a tag: as the zone's type requires, and not used twice among zones of the same type. */
const checkTag = (call: Call, vnet: SdnObject): void => {
  const { zones, vnets } = call.world.state.sdn.config
  const zone = zones.get(String(vnet["zone"]))
  if (zone === undefined)
    throw failure("cannot lookup undefined type! at /usr/share/perl5/PVE/API2/Network/SDN/Vnets.pm line 326.")
  const type = String(zone["type"])
  const { tag } = vnet
  if (type === "simple") {
    if (tag !== undefined) throw badParameter({ tag: "vlan tag is not allowed on simple zone" })
    return
  }
  const kind = overlay.has(type) ? "vxlan" : "vlan"
  if (tag === undefined) throw badParameter({ tag: `missing ${kind} tag` })
  if (kind === "vlan" && Number(tag) > 4096) throw badParameter({ tag: "vlan tag max value is 4096" })
  for (const [id, other] of vnets) {
    if (id === vnet["vnet"] || other["tag"] !== tag) continue
    const otherType = String(zones.get(String(other["zone"]))?.["type"])
    const clashes = kind === "vxlan" ? overlay.has(otherType) : other["zone"] === vnet["zone"]
    if (clashes) throw badParameter({ tag: `${kind} tag ${tag} already exist in vnet ${id} in zone ${other["zone"]} ` })
  }
}

const list = (call: Call): unknown[] =>
  [...viewOf(call, "vnet")].filter(([id, vnet]) => mayAudit(call, id, vnet)).map(([, vnet]) => vnet)

const mayAudit = (call: Call, id: string, vnet: Record<string, unknown>): boolean => {
  const zone = asText(vnet["zone"] ?? (vnet["pending"] as SdnObject | undefined)?.["zone"])
  return may(call.world, call.identity, `/sdn/zones/${zone}/${id}`, ["SDN.Audit", "SDN.Allocate"], true)
}

const get = (call: Call): unknown => {
  const id = text(call, "vnet")
  const vnet = viewOf(call, "vnet").get(id)
  if (vnet === undefined) throw failure(`sdn vnet '${id}' does not exist`)
  if (!mayAudit(call, id, vnet))
    demand(call.world, call.identity, `/sdn/zones/${asText(vnet["zone"])}/${id}`, ["SDN.Audit", "SDN.Allocate"], true)
  return vnet
}

const create = (call: Call): null => {
  const id = text(call, "vnet")
  return edit(call, "create sdn vnet object failed", () => {
    const { vnets } = call.world.state.sdn.config
    if (vnets.has(id)) throw failure(`sdn vnet object ID '${id}' already defined`)
    const vnet: SdnObject = { type: "vnet", vnet: id, ...properties(call) }
    checkTag(call, vnet)
    vnets.set(id, vnet)
  })
}

const update = (call: Call): null => {
  const old = vnetNamed(call)
  const id = text(call, "vnet")
  demand(call.world, call.identity, `/sdn/zones/${old["zone"]}/${id}`, ["SDN.Allocate"])
  return edit(call, "update sdn vnet object failed", () => {
    checkDigest(call, "vnet")
    const removed = new Set(splitList(optionalText(call, "delete") ?? ""))
    const vnet = Object.fromEntries(Object.entries({ ...old, ...properties(call) }).filter(([key]) => !removed.has(key)))
    checkTag(call, vnet)
    if (vnet["vlanaware"] === 1 && subnetsOf(call, id).length > 0)
      throw badParameter({ vlanaware: "vlanaware vnet is not compatible with subnets" })
    call.world.state.sdn.config.vnets.set(id, vnet)
  })
}

const subnetsOf = (call: Call, vnet: string): SdnObject[] =>
  [...call.world.state.sdn.config.subnets.values()].filter((subnet) => subnet["vnet"] === vnet)

const remove = (call: Call): null => {
  const id = text(call, "vnet")
  const vnet = vnetNamed(call)
  demand(call.world, call.identity, `/sdn/zones/${vnet["zone"]}/${id}`, ["SDN.Allocate"])
  return edit(call, "delete sdn vnet object failed", () => {
    if (subnetsOf(call, id).length > 0) throw badParameter({ vnet: "Can't delete vnet if subnets exists" })
    call.world.state.sdn.config.vnets.delete(id)
    call.world.state.firewalls.delete(`vnet ${id}`)
  })
}

const listSubnets = (call: Call): unknown[] => {
  vnetNamed(call)
  return [...viewOf(call, "subnet").values()].filter((subnet) => subnet["vnet"] === text(call, "vnet"))
}

const subnetNamed = (call: Call): SdnObject => {
  const id = text(call, "subnet")
  const subnet = call.world.state.sdn.config.subnets.get(id)
  if (subnet === undefined) throw failure(`sdn subnet '${id}' does not exist`)
  return subnet
}

const blockOf = (subnet: SdnObject): ((address: string) => boolean) => {
  const block = new BlockList()
  const family = isIPv4(String(subnet["network"])) ? "ipv4" : "ipv6"
  block.addSubnet(String(subnet["network"]), Number(subnet["mask"]), family)
  return (address) => block.check(address, family)
}

const checkSubnet = (subnet: SdnObject): void => {
  const { gateway, cidr } = subnet
  const isIn = blockOf(subnet)
  if (gateway !== undefined && Number(subnet["mask"]) !== 32 && !isIn(String(gateway)))
    throw badParameter({ gateway: `${gateway} is not in subnet ${cidr}` })
  const seen: LeaseRange[] = []
  for (const range of leaseRanges(subnet)) {
    const [first, last] = [range["start-address"], range["end-address"]]
    const refused = (reason: string) => badParameter({ "dhcp-range": reason })
    if (isBefore(last, first)) throw refused(`start-address ${first} must be smaller than end-address ${last}`)
    if (!isIn(first)) throw refused(`start-address ${first} is not in subnet ${cidr}`)
    if (!isIn(last)) throw refused(`end-address ${last} is not in subnet ${cidr}`)
    const overlaps = seen.some((other) => !isBefore(last, other["start-address"]) && !isBefore(other["end-address"], first))
    if (overlaps) throw refused("dhcp ranges must not overlap")
    seen.push(range)
  }
}

/** Whether an address comes before another one: then there is no range from the other to it. */
const isBefore = (address: string, other: string): boolean => {
  try {
    new BlockList().addRange(other, address, isIPv4(address) ? "ipv4" : "ipv6")
    return false
  } catch {
    return true
  }
}

const createSubnet = (call: Call): null => {
  const vnetId = text(call, "vnet")
  const vnet = vnetNamed(call)
  demand(call.world, call.identity, `/sdn/zones/${vnet["zone"]}/${vnetId}`, ["SDN.Allocate"])
  return edit(call, "create sdn subnet object failed", () => {
    const cidr = text(call, "subnet")
    const [network = "", mask = ""] = cidr.split("/")
    const id = `${vnet["zone"]}-${network}-${mask}`
    const { subnets } = call.world.state.sdn.config
    if (subnets.has(id)) throw failure(`sdn subnet object ID '${id}' already defined`)
    if (vnet["vlanaware"] === 1) throw badParameter({ vnet: "you can't add a subnet on a vlanaware vnet" })
    const subnet: SdnObject = {
      type: "subnet",
      subnet: id,
      id,
      cidr,
      network,
      mask,
      zone: String(vnet["zone"]),
      vnet: vnetId,
      ...properties(call),
    }
    checkSubnet(subnet)
    subnets.set(id, subnet)
  })
}

/** The right to change a VNet includes its subnets. */
const demandVnet = (call: Call): void => {
  demand(call.world, call.identity, `/sdn/zones/${vnetNamed(call)["zone"]}/${text(call, "vnet")}`, ["SDN.Allocate"])
}

const updateSubnet = (call: Call): null => {
  demandVnet(call)
  const old = subnetNamed(call)
  return edit(call, "update sdn subnet object failed", () => {
    checkDigest(call, "subnet")
    const removed = new Set(splitList(optionalText(call, "delete") ?? ""))
    const subnet = Object.fromEntries(Object.entries({ ...old, ...properties(call) }).filter(([key]) => !removed.has(key)))
    checkSubnet(subnet)
    call.world.state.sdn.config.subnets.set(text(call, "subnet"), subnet)
  })
}

const removeSubnet = (call: Call): null => {
  demandVnet(call)
  return edit(call, "delete sdn subnet object failed", () => {
    subnetNamed(call)
    call.world.state.sdn.config.subnets.delete(text(call, "subnet"))
  })
}

const getSubnet = (call: Call): unknown => {
  const subnet = viewOf(call, "subnet").get(text(call, "subnet"))
  if (subnet === undefined) throw failure(`sdn subnet '${text(call, "subnet")}' does not exist`)
  return subnet
}

/** VNets and their subnets. */
export const sdnVnetRoutes: Routes = {
  "GET /cluster/sdn/vnets": list,
  "POST /cluster/sdn/vnets": create,
  "GET /cluster/sdn/vnets/{vnet}": get,
  "PUT /cluster/sdn/vnets/{vnet}": update,
  "DELETE /cluster/sdn/vnets/{vnet}": remove,
  "GET /cluster/sdn/vnets/{vnet}/subnets": listSubnets,
  "POST /cluster/sdn/vnets/{vnet}/subnets": createSubnet,
  "GET /cluster/sdn/vnets/{vnet}/subnets/{subnet}": getSubnet,
  "PUT /cluster/sdn/vnets/{vnet}/subnets/{subnet}": updateSubnet,
  "DELETE /cluster/sdn/vnets/{vnet}/subnets/{subnet}": removeSubnet,
}
