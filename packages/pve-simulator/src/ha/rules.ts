import type { HaRule } from "../core/state.ts"
import type { World } from "../core/world.ts"

/** How a resource is named in the API. */
export const sidOf = (vmid: number): string => `vm:${vmid}`

/** What speaks against a node for a resource: its own rule, or another resource there that it is to be kept apart from. */
export interface Blocker {
  readonly sid: string
  readonly cause: "node-affinity" | "resource-affinity"
}

const rulesOf = (world: World, vmid: number): readonly HaRule[] =>
  [...world.state.haRules.values()].filter(({ disabled, resources }) => !disabled && resources.includes(vmid))

/** Other resources that are to be together with this one, or apart from it. */
const mates = (world: World, vmid: number, affinity: "positive" | "negative"): readonly number[] =>
  rulesOf(world, vmid)
    .filter((rule) => rule.affinity === affinity)
    .flatMap(({ resources }) => resources.filter((other) => other !== vmid))

/** Resources that move along with this one. */
export const companions = (world: World, vmid: number): readonly number[] => mates(world, vmid, "positive")

const nodesOf = (world: World, vmids: readonly number[]): ReadonlySet<string> =>
  new Set(vmids.flatMap((vmid) => world.state.guests.get(vmid)?.node ?? []))

const onlineNodes = (world: World): readonly string[] =>
  [...world.state.nodes.keys()].filter((name) => !world.faults.isNodeDown(name))

/** Nodes that are up and that node rules leave to a resource: all that they name, or only those that they prefer. */
const namedNodes = (world: World, vmid: number, preferred: boolean): readonly string[] => {
  let nodes = onlineNodes(world)
  for (const rule of rulesOf(world, vmid)) {
    if (rule.type !== "node-affinity") continue
    const named = nodes.filter((name) => rule.nodes.has(name))
    const best = Math.max(...named.map((name) => rule.nodes.get(name) ?? 0))
    // one that is not strict gives way when none of its nodes is up
    if (named.length > 0 || rule.strict) nodes = preferred ? named.filter((name) => rule.nodes.get(name) === best) : named
  }
  return nodes
}

/** Nodes where the rules let a resource go to now. */
export const placesFor = (world: World, vmid: number): readonly string[] => {
  const apart = nodesOf(world, mates(world, vmid, "negative"))
  const together = nodesOf(world, companions(world, vmid))
  const free = namedNodes(world, vmid, true).filter((name) => !apart.has(name))
  const joined = free.filter((name) => together.has(name))
  return joined.length > 0 ? joined : free
}

/** Whether a resource is where the rules let it be. Of two that are in each other's way the one with the higher id has to give way. */
export const mayStay = (world: World, vmid: number, node: string, failback: boolean): boolean => {
  const elder = (affinity: "positive" | "negative") => mates(world, vmid, affinity).filter((other) => other < vmid)
  const together = nodesOf(world, elder("positive"))
  return (
    namedNodes(world, vmid, failback).includes(node) &&
    !nodesOf(world, elder("negative")).has(node) &&
    (together.size === 0 || together.has(node))
  )
}

/** What keeps a resource from a node that it is asked to go to. */
export const blockersOf = (world: World, vmid: number, node: string): readonly Blocker[] => {
  const forbids = rulesOf(world, vmid).some((rule) => rule.type === "node-affinity" && rule.strict && !rule.nodes.has(node))
  const apart = mates(world, vmid, "negative").filter((other) => world.state.guests.get(other)?.node === node)
  return [
    ...(forbids ? [{ sid: sidOf(vmid), cause: "node-affinity" as const }] : []),
    ...apart.map((other) => ({ sid: sidOf(other), cause: "resource-affinity" as const })),
  ]
}

/** Takes a resource out of all rules; those that are left without any go with it. */
export const leaveRules = (world: World, vmid: number): void => {
  for (const [id, rule] of world.state.haRules) {
    if (!rule.resources.includes(vmid)) continue
    rule.resources = rule.resources.filter((other) => other !== vmid)
    if (rule.resources.length === 0) world.state.haRules.delete(id)
  }
}
