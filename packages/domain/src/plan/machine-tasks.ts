import type { RangeId, Vmid } from "../access/ids.ts"
import { writeDescription } from "../machine/mark.ts"
import type { MachineRef } from "./action.ts"
import type { DesiredMachine } from "./desired.ts"
import { type Expected, expectedBoot, expectedClone } from "./durations.ts"
import { type Difference, differencesOf, isSetUp, settingsOf } from "./differences.ts"
import type { OwnMachine } from "./identify.ts"
import { bootUse, isRunning, refOf, removeSteps, shutdownPatience } from "./machine-steps.ts"
import type { Placed } from "./placement.ts"
import type { DeployTag } from "./plan.ts"
import type { Task, TaskState } from "./task.ts"
import { cloneResource, isEverybodys } from "./templates.ts"
import { timing } from "./timing.ts"
import type { PlanSettings, PlanWorld } from "./world.ts"

/** A machine to be created, or an existing one. */
export type MachineState =
  | { readonly kind: "new"; readonly vmid: Vmid; readonly placed: Placed; readonly replaces: OwnMachine | undefined }
  | { readonly kind: "there"; readonly existing: OwnMachine }

export interface VmTasks {
  readonly tasks: readonly Task[]
  readonly ref: MachineRef
  /** Keys that the machine's first stage waits for. */
  readonly last: readonly string[]
  readonly differences: readonly Difference[]
}

export interface VmContext {
  readonly rangeId: RangeId
  readonly world: PlanWorld
  readonly settings: PlanSettings
  /** Keys of the tasks that create pool and network. */
  readonly poolKey: string
  readonly networkKey: string
}

/** The tag that creates and changes the VM itself. */
const ownTag = (machine: DesiredMachine): DeployTag => (machine.isRouter ? "network" : "vm-deploy")

/** From nothing, or from the existing VM, to a VM that runs as configured. At most one clone, one configure and one start. */
export const vmTasks = (context: VmContext, machine: DesiredMachine, machineState: MachineState): VmTasks =>
  machineState.kind === "new" ? newVm(context, machine, machineState) : changedVm(context, machine, machineState.existing)

const newVm = (
  context: VmContext,
  machine: DesiredMachine,
  { vmid, placed, replaces }: Extract<MachineState, { readonly kind: "new" }>,
): VmTasks => {
  const { name } = machine
  const mark = { range: context.rangeId, machine: name }
  const ref: MachineRef = { vmid, node: placed.node, mark }
  const base = { machine: name, tags: [ownTag(machine)], state: "missing", role: undefined } as const
  const isOwn = !isEverybodys(context.world, context.rangeId, machine.template)
  const storage = machine.full ? context.settings.vmStorage : undefined
  const removal = (replaces === undefined ? [] : removeSteps(replaces, context.world)).map((step): Task => ({ ...base, ...step }))
  const clone: Task = {
    ...base,
    key: `clone:${name}`,
    title: `Clone ${name} from ${machine.template}`,
    action: {
      kind: "clone",
      machine: ref,
      name,
      template: { vmid: placed.template.vmid, node: placed.template.node, name: placed.template.name },
      pool: context.rangeId,
      full: machine.full,
      storage,
      description: writeDescription({ ...mark, template: machine.template }, machine.groups),
    },
    after: [context.poolKey, ...removal.slice(-1).map((t) => t.key)],
    uses: [cloneResource(context.world, placed.template, placed.node, storage)],
    ...expectedClone(
      context.world,
      machine.template,
      machine.full,
      { isOwn },
      machine.full ? timing.fullClone : timing.linkedClone,
    ),
  }
  const configure: Task = {
    ...base,
    key: `configure:${name}`,
    title: `Configure ${name}`,
    action: {
      kind: "configure",
      machine: ref,
      settings: settingsOf(context.rangeId, machine, vmid, undefined, true, {
        template: context.world.details.get(placed.template.vmid)?.hardware,
        means: context.world.disguiseMeans,
      }),
    },
    after: [clone.key, context.networkKey],
    uses: [],
    estimate: timing.configure,
  }
  const boot = expectedStart(context.world, machine, machine.template, { isOwn })
  const start = startTask(machine, ref, [configure.key], [ownTag(machine)], "missing", boot)
  return { tasks: [...removal, clone, configure, start], ref, last: [start.key], differences: [] }
}

const changedVm = (context: VmContext, machine: DesiredMachine, existing: OwnMachine): VmTasks => {
  const ref = refOf(existing)
  const isUsed = hasStages(context, existing)
  const halfMade = !isUsed && !wasConfigured(existing)
  const settings = settingsOf(context.rangeId, machine, ref.vmid, existing, halfMade, {
    means: context.world.disguiseMeans,
  })
  const differences = differencesOf(existing, machine, settings)
  const running = isRunning(existing)
  const restarts = (running || existing.observed.power === "unknown") && differences.some((d) => d.needsRestart)
  const tags: readonly DeployTag[] = [
    ownTag(machine),
    ...(differences.some((d) => d.field === "groups") ? ["custom-groups" as const] : []),
  ]
  const state: TaskState = halfMade ? "missing" : "outdated"
  const base = { machine: machine.name, tags, state, role: undefined, uses: [] } as const
  const tasks: Task[] = []
  const last = (): readonly string[] => tasks.slice(-1).map((t) => t.key)
  if (restarts)
    tasks.push({
      ...base,
      key: `shutdown:${machine.name}`,
      title: `Shut down ${machine.name} to change its hardware`,
      after: [],
      estimate: timing.shutdown[machine.os],
      action: { kind: "shutdown", machine: ref, timeoutSeconds: shutdownPatience },
    })
  if (differences.length > 0)
    tasks.push({
      ...base,
      key: `configure:${machine.name}`,
      title: `Configure ${machine.name}`,
      estimate: timing.configure,
      after: [...last(), context.networkKey],
      action: { kind: "configure", machine: ref, settings },
    })
  const { template } = existing.mark
  const isOwn = !isEverybodys(context.world, context.rangeId, template)
  const boot = expectedStart(context.world, machine, template, { isOwn, isAgain: isUsed })
  const before = tasks.length > 0 ? last() : [context.networkKey]
  if (restarts) tasks.push(startTask(machine, ref, before, tags, state, boot))
  else if (!running && existing.observed.power !== "paused")
    tasks.push(startTask(machine, ref, before, [ownTag(machine)], "missing", boot))
  return { tasks, ref, last: last(), differences }
}

const hasStages = ({ world }: VmContext, { observed }: OwnMachine): boolean => (world.stages.get(observed.vmid)?.size ?? 0) > 0

/**
 * Without it, an interrupted run cloned the VM but got no further: its settings are not just outdated. Stages do not tell: an unmanaged VM
 * may have none, and a rollback made in Proxmox may forget them.
 */
const wasConfigured = (existing: OwnMachine): boolean =>
  (existing.owed ?? existing.detail).nics.some((nic) => isSetUp(existing, nic))

/** What is expected of a start, which lasts until the boot is over if something waits for that. */
const expectedStart = (
  world: PlanWorld,
  { managed, os }: DesiredMachine,
  template: string | undefined,
  kind: Parameters<typeof expectedBoot>[2],
): Expected => (managed ? expectedBoot(world, template, kind, timing.boot[os]) : { estimate: timing.startOnly })

const startTask = (
  machine: DesiredMachine,
  ref: MachineRef,
  after: readonly string[],
  tags: readonly DeployTag[],
  state: TaskState,
  boot: Expected,
): Task => ({
  key: `start:${machine.name}`,
  title: `Start ${machine.name}`,
  machine: machine.name,
  tags,
  state,
  role: undefined,
  after,
  action: { kind: "start", machine: ref, untilAgent: machine.managed },
  uses: [bootUse(ref.node)],
  ...boot,
})
