import { badParameter, failure } from "../core/errors.ts"
import { adoptHostFiles } from "../core/host-network.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Interface, NodeState } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { nodeOf, optionalText, spawn, text, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { isIPv4 } from "node:net"
import { adoptSdn } from "./sdn-nodes.ts"

/** The configuration with pending edits. */
const edited = (node: NodeState): Map<string, Interface> => node.pendingInterfaces ?? node.interfaces

/** The same as a copy that may be changed. */
const editable = (node: NodeState): Map<string, Interface> => {
  node.pendingInterfaces ??= structuredClone(node.interfaces)
  return node.pendingInterfaces
}

const ranks = ["eth", "OVSPort", "OVSIntPort", "OVSBond", "bond", "OVSBridge", "bridge", "vlan"]
const rankOf = ({ type }: Interface): number => ranks.indexOf(String(type))

/** Changes the pending edit. Its file has cards first, then bonds, bridges and VLANs; priorities count from 3 in this order. */
const edit = (node: NodeState, change: (all: Map<string, Interface>) => void): null => {
  const all = editable(node)
  change(all)
  const inOrder = [...all].toSorted(
    ([, a], [, b]) => rankOf(a) - rankOf(b) || Number(a["priority"] ?? 99) - Number(b["priority"] ?? 99),
  )
  for (const [index, [name, iface]] of inOrder.entries()) all.set(name, { ...iface, priority: 3 + index })
  return null
}

const keep = ["node", "iface", "delete", "skip_frr"]

/** Address with netmask and CIDR are equivalent: the given ones determine the others. */
const withAddress = (values: Interface): Interface => {
  const cidr =
    values["cidr"] ??
    (values["address"] === undefined ? undefined : `${values["address"]}/${maskBits(String(values["netmask"] ?? "24"))}`)
  if (cidr === undefined) return values
  const [address = "", bits = "24"] = String(cidr).split("/")
  return { ...values, cidr, address, netmask: bits }
}

const maskBits = (mask: string): number => {
  if (!isIPv4(mask)) return Number(mask)
  return mask.split(".").reduce((sum, octet) => sum + Number(octet).toString(2).replaceAll("0", "").length, 0)
}

/** An interface as the API shows it. */
const shown = (name: string, iface: Interface): Record<string, unknown> => {
  const method = iface["address"] === undefined ? "manual" : "static"
  return {
    iface: name,
    ...iface,
    ...vlanOf(name, iface),
    method: iface["method"] ?? method,
    method6: "manual",
    families: ["inet"],
  }
}

/** The device and the number of a VLAN's interface, as far as its name tells them. */
const vlanOf = (name: string, iface: Interface): Interface => {
  if (iface["type"] !== "vlan") return {}
  const [, device, id] = /^(?:(.+)\.|vlan)(\d+)$/u.exec(name) ?? []
  return {
    ...(device === undefined ? {} : { "vlan-raw-device": device }),
    ...(id === undefined ? {} : { "vlan-id": id }),
  }
}

const bridgeLike = new Set(["bridge", "OVSBridge"])

const ofType = (type: string | undefined, iface: Interface): boolean => {
  if (type === undefined || type === "include_sdn") return true
  if (type === "any_bridge" || type === "any_local_bridge") return bridgeLike.has(String(iface["type"]))
  return iface["type"] === type
}

const list = (call: Call): unknown[] => {
  const node = nodeOf(call)
  const { world, identity } = call
  const type = optionalText(call, "type")
  const local = [...edited(node)].filter(([, iface]) => ofType(type, iface))
  const auditor = may(world, identity, `/nodes/${node.name}`, ["Sys.Audit"])
  const visible = local.filter(
    ([name]) => auditor || may(world, identity, `/sdn/zones/localnetwork/${name}`, ["SDN.Audit", "SDN.Use"], true),
  )
  const out = visible.map(([name, iface]) => shown(name, iface))
  if (type === "include_sdn" || type === "any_bridge") out.push(...vnetBridges(call, node))
  const changes = node.pendingInterfaces === undefined ? "" : difference(node)
  if (changes !== "") call.beside["changes"] = changes
  return out
}

const vnetBridges = (call: Call, node: NodeState): Record<string, unknown>[] =>
  [...node.vnets]
    .filter((vnet) => {
      const zone = call.world.state.sdn.running.vnets.get(vnet)?.["zone"] ?? ""
      return may(call.world, call.identity, `/sdn/zones/${zone}/${vnet}`, ["SDN.Audit", "SDN.Use"], true)
    })
    .map((vnet) => ({ iface: vnet, type: "vnet", active: 1 }))

/** A comment comes after its interface's options, one line in the file for each of its lines. */
const commentLines = (iface: Interface): readonly string[] =>
  typeof iface["comments"] === "string"
    ? iface["comments"]
        .trimEnd()
        .split("\n")
        .map((line) => `#${line}`)
    : []

const isSame = (a: Interface, b: Interface): boolean =>
  JSON.stringify({ ...a, priority: 0 }) === JSON.stringify({ ...b, priority: 0 })

/** The pending edit as a diff. */
const difference = (node: NodeState): string => {
  const stanza = (name: string, iface: Interface, sign: string) =>
    [
      `iface ${name} inet ${iface["address"] === undefined ? "manual" : "static"}`,
      ...Object.entries(iface)
        .filter(([key]) => key.startsWith("bridge") || key === "cidr")
        .map(([key, value]) => `\t${key.replaceAll("_", "-")} ${value}`),
      ...commentLines(iface),
    ]
      .map((line) => `${sign}${line}\n`)
      .join("")
  const before = node.interfaces
  const after = node.pendingInterfaces!
  const lines: string[] = []
  for (const [name, iface] of before) if (!after.has(name)) lines.push(stanza(name, iface, "-"))
  for (const [name, iface] of after) {
    const old = before.get(name)
    if (old === undefined) lines.push(stanza(name, iface, "+"))
    else if (!isSame(old, iface)) lines.push(stanza(name, old, "-"), stanza(name, iface, "+"))
  }
  return lines.length === 0 ? "" : `--- /etc/network/interfaces\n+++ /etc/network/interfaces.new\n@@ -1 +1 @@\n${lines.join("")}`
}

const values = (call: Call): Interface => {
  const out: Interface = {}
  for (const [key, value] of Object.entries(call.parameters)) if (!keep.includes(key)) out[key] = value as string | number
  // comments in the file end with a newline, so they are read back with one
  if (typeof out["comments"] === "string" && !out["comments"].endsWith("\n")) out["comments"] += "\n"
  return withAddress(out)
}

const bridgeDefaults = (type: unknown): Interface =>
  type === "bridge" ? { bridge_ports: "", bridge_stp: "off", bridge_fd: "0" } : {}

/** A VLAN-aware bridge has all VLANs, unless some are named. */
const withVlans = (iface: Interface): Interface =>
  Number(iface["bridge_vlan_aware"] ?? 0) === 1 ? { bridge_vids: "2-4094", ...iface } : iface

/** An interface after a reload: active if it was before, or if it starts with the node. */
const brought = (iface: Interface): Interface => (Number(iface["autostart"] ?? 0) === 1 ? { ...iface, active: 1 } : iface)

/** A node has one default gateway for each kind of address. */
const checkGateway = (node: NodeState, name: string, given: Interface): void => {
  for (const [key, title] of [
    ["gateway", "Default gateway"],
    ["gateway6", "Default ipv6 gateway"],
  ] as const)
    for (const [other, iface] of edited(node))
      if (given[key] !== undefined && other !== name && iface[key] !== undefined)
        throw badParameter({ [key]: `${title} already exists on interface '${other}'.` })
}

const create = (call: Call): null => {
  const node = nodeOf(call)
  const name = text(call, "iface")
  const given = values(call)
  if (edited(node).has(name)) throw badParameter({ iface: "interface already exists" })
  checkGateway(node, name, given)
  for (const port of splitList(String(given["bridge_ports"] ?? ""))) {
    if (!edited(node).has(port)) throw badParameter({ bridge_ports: `interface '${port}' does not exist` })
  }
  return edit(node, (all) => all.set(name, withVlans({ ...bridgeDefaults(given["type"]), ...given })))
}

const existing = (call: Call): Interface => {
  const iface = edited(nodeOf(call)).get(text(call, "iface"))
  if (iface === undefined) throw badParameter({ iface: "interface does not exist" })
  return iface
}

const get = (call: Call) => {
  const { iface: _, ...rest } = shown(text(call, "iface"), existing(call))
  return rest
}

const update = (call: Call): null => {
  const old = existing(call)
  const removed = new Set(splitList(optionalText(call, "delete") ?? ""))
  const given = values(call)
  checkGateway(nodeOf(call), text(call, "iface"), given)
  const merged = { ...bridgeDefaults(given["type"]), ...old, ...given }
  const kept = Object.fromEntries(Object.entries(merged).filter(([key]) => !removed.has(key)))
  return edit(nodeOf(call), (all) => all.set(text(call, "iface"), withVlans(kept)))
}

const remove = (call: Call): null => {
  existing(call)
  return edit(nodeOf(call), (all) => all.delete(text(call, "iface")))
}

const revert = (call: Call): null => {
  nodeOf(call).pendingInterfaces = undefined
  return null
}

const never = () => failure("a network reload of this node did not end")

/** ifreload: applies the pending edit, and creates the bridges of applied VNets. Reloads of a node do not overlap. */
export function* reloadNetwork(world: World, node: NodeState, log: (line: string) => void): Routine<void> {
  yield* world.locks.exclusive(`reload ${node.name}`, Number.POSITIVE_INFINITY, never, function* (): Routine<void> {
    yield* sleep(world.clock, world.timing.networkReload)
    const complaint = world.faults.takeReloadComplaint(node.name)
    if (complaint !== undefined) {
      log(complaint)
      adoptSdn(world, node, false)
      throw failure("command 'ifreload -a' failed: exit code 1")
    }
    if (node.pendingInterfaces !== undefined)
      node.interfaces = new Map([...node.pendingInterfaces].map(([name, iface]) => [name, brought(iface)]))
    node.pendingInterfaces = undefined
    adoptSdn(world, node, true)
    adoptHostFiles(node)
  })
}

const apply = (call: Call): string => {
  const node = nodeOf(call)
  return spawn(call, "srvreload", "networking", (task) => reloadNetwork(call.world, node, task.log))
}

/** Interfaces of a node: edits, applying and reverting them. */
export const networkRoutes: Routes = {
  "GET /nodes/{node}/network": list,
  "POST /nodes/{node}/network": create,
  "PUT /nodes/{node}/network": apply,
  "DELETE /nodes/{node}/network": revert,
  "GET /nodes/{node}/network/{iface}": get,
  "PUT /nodes/{node}/network/{iface}": update,
  "DELETE /nodes/{node}/network/{iface}": remove,
}
