import * as Result from "effect/Result"
import type { ObservedNode } from "../machine/observed.ts"
import type { DesiredMachine } from "./desired.ts"
import type { PlanIssue } from "./issue.ts"
import type { Placement } from "./plan.ts"
import { type Template, templateFor, templatesNamed } from "./templates.ts"
import type { PlanSettings, PlanWorld } from "./world.ts"

/** Where a machine that does not exist yet goes, and what it is cloned from. */
export interface Placed extends Placement {
  readonly template: Template
}

export interface PlacementInput {
  /** Those to be cloned, in the order of the plan. */
  readonly machines: readonly DesiredMachine[]
  /** Those that are there and will be started: their memory is counted where they are. */
  readonly waking: readonly { readonly node: string; readonly memoryMiB: number; readonly cpus: number }[]
  readonly world: PlanWorld
  readonly settings: PlanSettings
  /** The configuration's node for machines that name none. */
  readonly defaultTarget: string | undefined
}

/** The node that holds everything where there is no cluster mode: the configured one, else the first by name that is up. */
export const singleNode = (world: PlanWorld, settings: PlanSettings): string | undefined =>
  settings.defaultNode ??
  world.cluster.nodes
    .filter((n) => n.online)
    .map((n) => n.name)
    .sort()[0]

/**
 * A node for each machine: the one that the configuration names, else the one with most room, counting what this plan has put there
 * already; only nodes that are up and where the machine's template can be cloned. Fails with every machine that has no such node.
 */
export const place = (input: PlacementInput): Result.Result<ReadonlyMap<string, Placed>, readonly PlanIssue[]> => {
  const loads = new Map(input.world.cluster.nodes.map((n) => [n.name, loadOf(n)]))
  for (const w of input.waking) loads.get(w.node)?.add(w)
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
  return issues.length > 0 ? Result.fail(oneIssueForTemplates(issues)) : Result.succeed(placed)
}

const placeOne = (
  input: PlacementInput,
  machine: DesiredMachine,
  loads: ReadonlyMap<string, Load>,
): Result.Result<Placed, PlanIssue> => {
  const templates = templatesNamed(input.world, machine.template)
  if (templates.length === 0) return Result.fail({ code: "template-missing", message: machine.template, hint: buildHint })
  const fixed = fixedNode(input, machine)
  if (fixed !== undefined) return onNode(input, machine, templates, fixed.node, fixed.reason)
  const rooms = [...loads.values()]
    .filter((l) => l.node.online && templateFor(templates, l.node.name) !== undefined)
    .sort((a, b) => a.score() - b.score() || (a.node.name < b.node.name ? -1 : 1))
  const best = rooms[0]
  if (best === undefined)
    return Result.fail({ code: "no-node", message: `no node that is up can clone ${machine.template} for ${machine.name}` })
  const reason =
    rooms.length === 1 ? `the only node that can clone ${machine.template}` : `most room of ${rooms.length} nodes: ${best.text()}`
  return onNode(input, machine, templates, best.node.name, reason)
}

const buildHint = "Build the missing templates (POST /templates), or name others in the configuration."

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
  { world }: PlacementInput,
  machine: DesiredMachine,
  templates: readonly Template[],
  node: string,
  reason: string,
): Result.Result<Placed, PlanIssue> => {
  const observed = world.cluster.nodes.find((n) => n.name === node)
  const names = world.cluster.nodes.map((n) => n.name).sort()
  if (observed === undefined)
    return Result.fail({
      code: "node-missing",
      message: `${machine.name} wants the node ${node}, which does not exist`,
      hint: `The nodes are ${names.join(", ")}.`,
    })
  if (!observed.online)
    return Result.fail({ code: "node-offline", message: `${machine.name} wants the node ${node}, which is offline` })
  const template = templateFor(templates, node)
  return template === undefined
    ? Result.fail({
        code: "template-out-of-reach",
        message: `${machine.template} cannot be cloned to ${node} for ${machine.name}: it is on ${templates.map((t) => t.node).join(", ")}, and its disk is on no shared storage`,
        hint: "Build the template on that node too, move its disk to shared storage, or choose another node.",
      })
    : Result.succeed({ machine: machine.name, node, reason, template })
}

/** Missing templates are one issue that lists them all, each once. */
const oneIssueForTemplates = (issues: readonly PlanIssue[]): readonly PlanIssue[] => {
  const missing = issues.filter((i) => i.code === "template-missing").map((i) => i.message)
  const others = issues.filter((i) => i.code !== "template-missing")
  if (missing.length === 0) return others
  const names = [...new Set(missing)].sort()
  const message = names.length === 1 ? `the template ${names[0]} is not built` : `the templates ${names.join(", ")} are not built`
  return [{ code: "template-missing", message, hint: buildHint }, ...others]
}

interface Load {
  readonly node: ObservedNode
  readonly add: (machine: { readonly memoryMiB: number; readonly cpus: number }) => void
  readonly score: () => number
  readonly text: () => string
}

/** Cores may be given out this many times over: labs idle. */
const coresShared = 4
/** Memory cannot be shared as cores can, so it counts for more. */
const weights = { memory: 0.8, cpu: 0.2 } as const

const loadOf = (node: ObservedNode): Load => {
  let memoryMiB = node.memoryUsedMiB
  let cpu = node.cpuLoad
  const memoryShare = (): number => (node.memoryMiB > 0 ? memoryMiB / node.memoryMiB : 1)
  return {
    node,
    add: (machine) => {
      memoryMiB += machine.memoryMiB
      cpu += machine.cpus / Math.max(1, node.cpus) / coresShared
    },
    score: () => weights.memory * memoryShare() + weights.cpu * cpu,
    text: () => `${percent(memoryShare())} of its memory and ${percent(cpu)} of its cores are in use or planned before it`,
  }
}

const percent = (share: number): string => `${Math.round(share * 100)} %`
