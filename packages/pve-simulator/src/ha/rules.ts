import type { HaRule } from "../core/state.ts"
import type { World } from "../core/world.ts"

/** The API's name of a resource. */
export const sidOf = (vmid: number): string => `vm:${vmid}`

/** Why a resource must not be on a node: its node rule, or another resource there from which it must be apart. */
export interface Blocker {
  readonly sid: string
  readonly cause: "node-affinity" | "resource-affinity"
}

const rulesOf = (world: World, vmid: number): readonly HaRule[] =>
  [...world.state.haRules.values()].filter(({ disabled, resources }) => !disabled && resources.includes(vmid))

/** Other resources that must be together with this one, or apart from it. */
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

/** Online nodes that the node rules allow for a resource: all named ones, or only the preferred ones. */
const namedNodes = (world: World, vmid: number, preferred: boolean): readonly string[] => {
  let nodes = onlineNodes(world)
  for (const rule of rulesOf(world, vmid)) {
    if (rule.type !== "node-affinity") continue
    const named = nodes.filter((name) => rule.nodes.has(name))
    const best = Math.max(...named.map((name) => rule.nodes.get(name) ?? 0))
    // a rule that is not strict does not count if none of its nodes is online
    if (named.length > 0 || rule.strict) nodes = preferred ? named.filter((name) => rule.nodes.get(name) === best) : named
  }
  return nodes
}

/** Nodes to which the rules allow a resource to move now. */
export const placesFor = (world: World, vmid: number): readonly string[] => {
  const apart = nodesOf(world, mates(world, vmid, "negative"))
  const together = nodesOf(world, companions(world, vmid))
  const free = namedNodes(world, vmid, true).filter((name) => !apart.has(name))
  const joined = free.filter((name) => together.has(name))
  return joined.length > 0 ? joined : free
}

/** Whether the rules allow a resource to stay on a node. Of two conflicting resources, the one with the higher id has to move. */
export const mayStay = (world: World, vmid: number, node: string, failback: boolean): boolean => {
  const elder = (affinity: "positive" | "negative") => mates(world, vmid, affinity).filter((other) => other < vmid)
  const together = nodesOf(world, elder("positive"))
  return (
    namedNodes(world, vmid, failback).includes(node) &&
    !nodesOf(world, elder("negative")).has(node) &&
    (together.size === 0 || together.has(node))
  )
}

/** Reasons against moving a resource to a requested node. */
export const blockersOf = (world: World, vmid: number, node: string): readonly Blocker[] => {
  const forbids = rulesOf(world, vmid).some((rule) => rule.type === "node-affinity" && rule.strict && !rule.nodes.has(node))
  const apart = mates(world, vmid, "negative").filter((other) => world.state.guests.get(other)?.node === node)
  return [
    ...(forbids ? [{ sid: sidOf(vmid), cause: "node-affinity" as const }] : []),
    ...apart.map((other) => ({ sid: sidOf(other), cause: "resource-affinity" as const })),
  ]
}

/** Removes a resource from all rules, and rules without resources. */
export const leaveRules = (world: World, vmid: number): void => {
  for (const [id, rule] of world.state.haRules) {
    if (!rule.resources.includes(vmid)) continue
    rule.resources = rule.resources.filter((other) => other !== vmid)
    if (rule.resources.length === 0) world.state.haRules.delete(id)
  }
}
