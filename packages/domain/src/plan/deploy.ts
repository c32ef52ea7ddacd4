import * as Result from "effect/Result"
import type { Vmid } from "../access/ids.ts"
import { groupBy } from "../group-by.ts"
import { machineNames } from "./desired.ts"
import { keepOnly } from "./graph.ts"
import { hinderedTasks } from "./guest-obstacles.ts"
import { identify } from "./identify.ts"
import { judgedWorld } from "./judged-world.ts"
import type { DeployInput } from "./input.ts"
import type { PlanIssue } from "./issue.ts"
import { removeSteps } from "./machine-steps.ts"
import { type VmTasks, vmTasks } from "./machine-tasks.ts"
import { keptReason } from "./kept.ts"
import type { Allocation, Change, Plan, Placement, RoleSequence, RolesPlan } from "./plan.ts"
import { absentNotes, idleChoiceNotes, leftOutNotes, stateNotes } from "./plan-notes.ts"
import { loginNotes } from "./login-notes.ts"
import { inFileOrder } from "./role-sequence.ts"
import { rangeTasks } from "./range-tasks.ts"
import { criticalPath, simulateSchedule } from "./schedule.ts"
import { select } from "./select.ts"
import { type StageHost, stageTasks } from "./stage-tasks.ts"
import { changeOf, overcommitted } from "./summary.ts"
import { type Survey, survey } from "./survey.ts"
import { type Task, stepOf } from "./task.ts"
import { templatesNamed } from "./templates.ts"
import type { PlanWorld } from "./world.ts"

/**
 * Plans how to bring the world to what the configuration says, or fails with every reason why that is impossible. Pure and deterministic.
 * No difference, no steps; nothing that is not ours is touched, and no VM is removed or replaced unless the choice says so.
 */
export const planDeploy = (input: DeployInput): Result.Result<Plan, readonly PlanIssue[]> =>
  Result.flatMap(outlineDeploy(input), ({ plan, hindered }) =>
    hindered.length > 0 ? Result.fail(hindered) : Result.succeed(plan),
  )

/** What a deploy would do, and which of its work inside machines is impossible at present. */
export const outlineDeploy = (input: DeployInput): Result.Result<DeployOutline, readonly PlanIssue[]> =>
  Result.map(survey(input), (found) => outlineOf(input, found))

export interface DeployOutline {
  readonly plan: Plan
  /** Empty: the plan can be carried out. */
  readonly hindered: readonly PlanIssue[]
}

/**
 * Whether the plan does nothing and no machine is still to be created. Other machines of the cluster make no difference to such a plan:
 * planning it needs no more of `cluster.machines` than the range's own.
 */
export const changesNothing = ({ steps, placements, allocations }: Plan): boolean =>
  steps.length === 0 && placements.length === allocations.length

/** Templates whose details `planDeploy` needs in `world.details`, because machines will be cloned from them. */
export const templatesToRead = (input: DeployInput): readonly Vmid[] => {
  const own = identify(input.range.id, input.world).own
  const names = machineNames(input.range.id, input.config)
  const wanted = [input.config.router.template, ...input.config.machines.map((m) => m.template)]
  const needed = wanted.filter((template, i) => {
    const existing = own.get(names[i]!)
    return existing === undefined || (input.choice.replace && existing.mark.template !== template)
  })
  return [...new Set(needed)].flatMap((name) => templatesNamed(input.world, name).map((t) => t.vmid))
}

const outlineOf = (input: DeployInput, found: Survey): DeployOutline => {
  const { range, settings } = input
  const { desired, machineStates } = found
  const { world, notes: foreignNotes } = judgedWorld(input, found.identified.own.values())
  const common = rangeTasks(input, desired, new Set(allocationsOf(found).map(({ node }) => node)))
  const vms = new Map<string, VmTasks>()
  for (const machine of desired.machines) {
    const machineState = machineStates.get(machine.name)
    if (machineState !== undefined)
      vms.set(
        machine.name,
        vmTasks(
          { rangeId: range.id, world, settings, poolKey: common.poolKey, networkKey: common.networkKey },
          machine,
          machineState,
        ),
      )
  }
  const removals = removalTasks(found, world)
  const hosts = stageHosts(found, vms, world.addresses)
  const others = [...common.tasks, ...removals, ...[...vms.values()].flatMap((vm) => vm.tasks)]
  const stages = stageTasks(desired, hosts, world)
  const sequence = input.choice.roleSequence ?? input.config.roleSequence
  const inSequence = (some: RoleSequence): readonly Task[] => [
    ...others,
    ...(some === "file" ? inFileOrder(stages, desired, hosts) : stages),
  ]
  const tasks = inSequence(sequence)
  const possible = (t: Task): boolean => t.action.kind !== "guest" || !settings.guestsLeftOut
  const selection = select({ tasks, choice: input.choice, machines: found.limited, possible })
  const keep = (some: readonly Task[]) => keepOnly(some, (t) => selection.keys.has(t.key))
  const kept = keep(tasks)
  const steps = kept.map(stepOf)
  const placements = placementsOf(found, selection.keys)
  const plan: Plan = {
    rangeId: range.id,
    steps,
    changes: [...common.changes(kept), ...machineChanges(found, vms, kept)],
    placements,
    allocations: allocationsOf(found),
    kept: found.kept,
    notes: [
      ...found.notes,
      ...selection.notes,
      ...absentNotes(desired, tasks, kept),
      ...leftOutNotes(tasks.filter((t) => found.limited.has(t.machine ?? "") && !possible(t))),
      ...loginNotes(input, found, kept),
      ...idleChoiceNotes(input.choice, tasks),
      ...stateNotes(found.machineStates),
      ...foreignNotes,
      ...overcommitted(world.cluster.nodes, addedMemory(found, kept), world.reserved),
    ],
    criticalPathSeconds: criticalPath(steps).seconds,
    ...(kept.some((t) => t.role !== undefined) ? { roles: rolesPlan(sequence, kept, (other) => keep(inSequence(other))) } : {}),
  }
  return { plan, hindered: hinderedTasks(world.guestObstacles ?? [], kept) }
}

/** `tasks` are in this sequence; `otherwise` gives the same tasks in the other one. */
const rolesPlan = (
  sequence: RoleSequence,
  tasks: readonly Task[],
  otherwise: (other: RoleSequence) => readonly Task[],
): RolesPlan => {
  const secondsOf = (steps: readonly Task[]): number => simulateSchedule({ steps }).makespan
  const [own, other] = [secondsOf(tasks), secondsOf(otherwise(sequence === "file" ? "graph" : "file"))]
  return { sequence, graphSavesSeconds: Math.max(0, sequence === "file" ? own - other : other - own) }
}

const removalTasks = ({ pruned }: Survey, world: PlanWorld): readonly Task[] =>
  pruned.flatMap((own) =>
    removeSteps(own, world).map((step): Task => ({
      ...step,
      machine: own.mark.machine,
      tags: ["vm-deploy"],
      state: "outdated",
      role: undefined,
    })),
  )

/** A guest takes an address only after a removed VM that has it, or may have it, is gone. */
const stageHosts = (
  found: Survey,
  vms: ReadonlyMap<string, VmTasks>,
  addresses: ReadonlyMap<Vmid, string>,
): ReadonlyMap<string, StageHost> =>
  new Map(
    found.desired.machines.flatMap((machine) => {
      const vm = vms.get(machine.name)
      if (vm === undefined) return []
      const holders = found.pruned.filter((own) => {
        const held = addresses.get(own.observed.vmid)
        return held === undefined || held === machine.address
      })
      const after = [...vm.last, ...holders.map((own) => `delete:${own.mark.machine}`)]
      return [[machine.name, { ref: vm.ref, isNew: found.machineStates.get(machine.name)?.kind === "new", after }] as const]
    }),
  )

const machineChanges = (found: Survey, vms: ReadonlyMap<string, VmTasks>, tasks: readonly Task[]): readonly Change[] => {
  const kept = new Map(found.kept.map((one) => [one.machine, one]))
  const tasksOf = groupBy(tasks, ({ machine }) => machine)
  return [
    ...found.desired.machines.flatMap((machine) => {
      const machineState = found.machineStates.get(machine.name)
      if (machineState === undefined) return []
      const replacedTemplate = machineState.kind === "new" ? machineState.replaces?.mark.template : undefined
      const differences = vms.get(machine.name)?.differences ?? []
      const { name, template } = machine
      return [changeOf({ name, template, differences, replacedTemplate, kept: kept.get(name) }, tasksOf.get(name) ?? [])]
    }),
    ...found.pruned.map(({ mark }): Change => ({
      kind: "remove",
      object: mark.machine,
      reasons: ["no longer in the configuration"],
    })),
    ...found.kept.flatMap((one): readonly Change[] =>
      one.template === undefined ? [{ kind: "keep", object: one.machine, reasons: [keptReason(one)] }] : [],
    ),
  ]
}

const placementsOf = ({ machineStates }: Survey, keys: ReadonlySet<string>): readonly Placement[] =>
  [...machineStates].flatMap(([machine, s]) => {
    if (s.kind === "there") return [{ machine, node: s.existing.observed.node, reason: "it already exists" }]
    return keys.has(`clone:${machine}`) ? [{ machine, node: s.placed.node, reason: s.placed.reason }] : []
  })

const allocationsOf = ({ desired, machineStates }: Survey): readonly Allocation[] =>
  desired.machines.flatMap(({ name, address }) => {
    const s = machineStates.get(name)
    if (s === undefined) return []
    return s.kind === "new"
      ? [{ machine: name, vmid: s.vmid, node: s.placed.node, address }]
      : [{ machine: name, vmid: s.existing.observed.vmid, node: s.existing.observed.node, address }]
  })

/** The memory of machines that these tasks create or start. */
const addedMemory = ({ desired, machineStates }: Survey, tasks: readonly Task[]) => {
  const started = new Set(tasks.flatMap(({ action, machine }) => (action.kind === "start" ? machine : undefined) ?? []))
  return desired.machines.flatMap(({ name, memoryMiB }) => {
    const s = machineStates.get(name)
    if (s === undefined || !started.has(name)) return []
    if (s.kind === "new") return [{ node: s.placed.node, memoryMiB }]
    const { node, power } = s.existing.observed
    return power === "stopped" ? [{ node, memoryMiB }] : []
  })
}
