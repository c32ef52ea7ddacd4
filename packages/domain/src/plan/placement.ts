import * as Result from "effect/Result"
import type { ObservedNode, ObservedZone } from "../machine/observed.ts"
import type { DesiredMachine } from "./desired.ts"
import type { PlanIssue } from "./issue.ts"
import { buildCall } from "../template/missing.ts"
import type { Placement } from "./plan.ts"
import { hindrance, offlineHolder, type Template, templateFor, templatesNamed } from "./templates.ts"
import type { PlanSettings, PlanWorld, ReservedCapacity } from "./world.ts"

/** Where a new machine goes, and what it is cloned from. */
export interface Placed extends Placement {
  readonly template: Template
}

export interface PlacementInput {
  /** Machines to clone, in the order of the plan. */
  readonly machines: readonly DesiredMachine[]
  /** Existing machines that will be started: their memory counts on their node. */
  readonly waking: readonly ReservedCapacity[]
  readonly world: PlanWorld
  readonly settings: PlanSettings
  /** The configuration's node for machines that name none. */
  readonly defaultTarget: string | undefined
}

/** The node that holds everything without cluster mode: the configured one, else the first online one by name. */
export const singleNode = (
  world: { readonly cluster: Pick<PlanWorld["cluster"], "nodes"> },
  settings: Pick<PlanSettings, "defaultNode">,
): string | undefined =>
  settings.defaultNode ??
  world.cluster.nodes
    .filter((n) => n.online)
    .map((n) => n.name)
    .sort()[0]

/**
 * A node for each machine: the one that the configuration names, else the one with the most room, counting what this plan has put there
 * already and what is reserved for others. Only online nodes that can clone the machine's template count. Fails with an issue for every
 * machine that has no such node.
 */
export const place = (input: PlacementInput): Result.Result<ReadonlyMap<string, Placed>, readonly PlanIssue[]> => {
  const loads = new Map(input.world.cluster.nodes.map((n) => [n.name, loadOf(n)]))
  for (const room of [...input.waking, ...(input.world.reserved ?? [])]) loads.get(room.node)?.add(room)
  const placed = new Map<string, Placed>()
  const issues: PlanIssue[] = []
  for (const machine of input.machines) {
    const found = placeOne(input, machine, loads)
    if (Result.isFailure(found)) {
      issues.push(found.failure)
      continue
    }
    loads.get(found.success.node)?.add(machine)
    placed.set(machine.name, found.success)
  }
  return issues.length > 0 ? Result.fail(eachOnce(oneIssueForTemplates(issues))) : Result.succeed(placed)
}

const placeOne = (
  input: PlacementInput,
  machine: DesiredMachine,
  loads: ReadonlyMap<string, Load>,
): Result.Result<Placed, PlanIssue> => {
  const templates = templatesNamed(input.world, machine.template)
  if (templates.length === 0) return Result.fail(noTemplate(input.world, machine.template))
  const fixed = fixedNode(input, machine)
  if (fixed !== undefined) return onNode(input, machine, templates, fixed.node, fixed.reason)
  const spanned = [...loads.values()].filter(({ node }) => node.online && zoneOn(input, node.name) !== "absent")
  if (spanned.length === 0) return Result.fail(noZone(input, machine))
  const able = spanned.filter(
    ({ node }) => templateFor(input.world, templates, node.name, fullTarget(input, machine)) !== undefined,
  )
  // a node on which VNets failed may be repaired by another apply: it is used only when there is no other
  const sound = able.filter(({ node }) => zoneOn(input, node.name) !== "error")
  const rooms = (sound.length > 0 ? sound : able).toSorted(
    (a, b) => a.scoreWith(machine) - b.scoreWith(machine) || (a.node.name < b.node.name ? -1 : 1),
  )
  const best = rooms[0]
  if (best === undefined) {
    const nodes = spanned.map(({ node }) => node.name)
    return Result.fail({
      code: "no-node",
      message: `no node that is up can clone ${machine.template} for ${machine.name}: ${hindrances(input, machine, templates, nodes)}`,
      hint: reachHint,
    })
  }
  const reason =
    rooms.length === 1 ? `the only node that can clone ${machine.template}` : `most room of ${rooms.length} nodes: ${best.text()}`
  return onNode(input, machine, templates, best.node.name, reason)
}

/** State of the VNets' zone on the node; `absent`: no VNet reaches it. If no node shows the zone, creating the network tells why. */
const zoneOn = ({ settings, world }: PlacementInput, node: string): ObservedZone["state"] | "absent" => {
  const spans = (world.cluster.zones ?? []).filter(({ zone }) => settings.clusterMode && zone === settings.sdnZone)
  if (spans.length === 0) return "available"
  return spans.find((span) => span.node === node)?.state ?? "absent"
}

const noZone = ({ settings }: PlacementInput, machine: DesiredMachine): PlanIssue => ({
  code: "zone-unusable",
  message: `no node that is up belongs to the SDN zone ${settings.sdnZone}, so ${machine.name} cannot be placed`,
  hint: "Bring a node of the zone back, or add nodes to the zone and apply it (Datacenter > SDN).",
})

const reachHint = "Build the template on that node too, move its disk to shared storage, or choose another node."

/** Why none of the templates can be cloned on these nodes, each reason once. */
const hindrances = (
  input: PlacementInput,
  machine: DesiredMachine,
  templates: readonly Template[],
  nodes: readonly string[],
): string => {
  const target = fullTarget(input, machine)
  const all = nodes.flatMap((node) => templates.map((t) => hindrance(input.world, t, node, target)))
  return [...new Set(all)].join("; ")
}

/** The storage for the machine's disks when it is a full clone; undefined: the template's own. */
const fullTarget = ({ settings }: PlacementInput, machine: DesiredMachine): string | undefined =>
  machine.full ? settings.vmStorage : undefined

const noTemplate = (world: PlanWorld, name: string): PlanIssue => {
  const holder = offlineHolder(world, name)
  return holder === undefined
    ? { code: "template-missing", message: name, templates: [name] }
    : {
        code: "node-offline",
        message: `the template ${name} is on the node ${holder}, which is offline`,
        hint: `Bring ${holder} back, or build the template on another node.`,
      }
}

const buildHint = (names: readonly string[]): string =>
  `Build what is missing with ${buildCall(names)}, or use other templates in the configuration.`

const fixedNode = (
  { settings, world, defaultTarget }: PlacementInput,
  machine: DesiredMachine,
): { readonly node: string; readonly reason: string } | undefined => {
  if (!settings.clusterMode) {
    const node = singleNode(world, settings)
    return node === undefined ? undefined : { node, reason: "the node that holds the range's bridge" }
  }
  if (machine.targetNode !== undefined) return { node: machine.targetNode, reason: "target_node of the machine" }
  return defaultTarget === undefined ? undefined : { node: defaultTarget, reason: "defaults.target_node of the range" }
}

const onNode = (
  input: PlacementInput,
  machine: DesiredMachine,
  templates: readonly Template[],
  node: string,
  reason: string,
): Result.Result<Placed, PlanIssue> => {
  const { world } = input
  const observed = world.cluster.nodes.find((n) => n.name === node)
  const names = world.cluster.nodes.map((n) => n.name).sort()
  if (observed === undefined)
    return Result.fail({
      code: "node-missing",
      message: `${machine.name} requires the node ${node}, which does not exist`,
      hint: `The nodes are ${names.join(", ")}.`,
    })
  if (!observed.online)
    return Result.fail({ code: "node-offline", message: `${machine.name} requires the node ${node}, which is offline` })
  if (zoneOn(input, node) === "absent")
    return Result.fail({
      code: "zone-unusable",
      message: `${machine.name} requires the node ${node}, which does not belong to the SDN zone ${input.settings.sdnZone}`,
      hint: `Add ${node} to the zone's nodes and apply it (Datacenter > SDN), or choose another node.`,
    })
  const template = templateFor(world, templates, node, fullTarget(input, machine))
  return template === undefined
    ? Result.fail({
        code: "template-out-of-reach",
        message: `${machine.template} cannot be cloned to ${node} for ${machine.name}: ${hindrances(input, machine, templates, [node])}`,
        hint: reachHint,
      })
    : Result.succeed({ machine: machine.name, node, reason, template })
}

/** Several machines with the same template have the same issue. */
const eachOnce = (issues: readonly PlanIssue[]): readonly PlanIssue[] => [
  ...new Map(issues.map((issue) => [issue.message, issue])).values(),
]

/** Merges missing templates into one issue that lists each once. */
const oneIssueForTemplates = (issues: readonly PlanIssue[]): readonly PlanIssue[] => {
  const names = [...new Set(issues.flatMap(({ templates = [] }) => templates))].sort()
  const others = issues.filter(({ templates }) => templates === undefined)
  if (names.length === 0) return others
  const message = names.length === 1 ? `the template ${names[0]} is not built` : `the templates ${names.join(", ")} are not built`
  return [{ code: "template-missing", message, hint: buildHint(names), templates: names }, ...others]
}

interface Load {
  readonly node: ObservedNode
  readonly add: (machine: { readonly memoryMiB: number; readonly cpus: number }) => void
  /** How full the node would be with the machine: the lowest score wins. */
  readonly scoreWith: (machine: { readonly memoryMiB: number; readonly cpus: number }) => number
  readonly text: () => string
}

/** How many times over cores may be allocated: labs are mostly idle. */
const coresShared = 4
/** Memory cannot be shared like cores, so it counts for more. */
const weights = { memory: 0.8, cpu: 0.2 } as const

const loadOf = (node: ObservedNode): Load => {
  let memoryMiB = node.memoryUsedMiB
  let cpu = node.cpuLoad
  const memoryShare = (more = 0): number => (node.memoryMiB > 0 ? (memoryMiB + more) / node.memoryMiB : Number.MAX_VALUE)
  const cpuShare = (cpus: number): number => cpus / Math.max(1, node.cpus) / coresShared
  return {
    node,
    add: (machine) => {
      memoryMiB += machine.memoryMiB
      cpu += cpuShare(machine.cpus)
    },
    scoreWith: (machine) => weights.memory * memoryShare(machine.memoryMiB) + weights.cpu * (cpu + cpuShare(machine.cpus)),
    text: () => `${percent(memoryShare())} of its memory and ${percent(cpu)} of its cores are in use or planned before it`,
  }
}

const percent = (share: number): string => `${Math.round(share * 100)} %`
