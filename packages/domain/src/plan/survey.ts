import * as Result from "effect/Result"
import type { Vmid } from "../access/ids.ts"
import { osIdOf, taggedTemplates } from "../machine/guest-system.ts"
import { renderName } from "../range/config/index.ts"
import { type DesiredMachine, type DesiredRange, desiredRange } from "./desired.ts"
import { matchHosts } from "./host-pattern.ts"
import { type Identified, identify, labelOf, type OwnMachine } from "./identify.ts"
import { type DeployInput, makesMachines } from "./input.ts"
import type { PlanIssue } from "./issue.ts"
import { otherTemplate, takenAddresses } from "./kept.ts"
import type { MachineState } from "./machine-tasks.ts"
import { blockedMachines, isOlderNetwork, networkIssues } from "./obstacles.ts"
import { otherNetworkIssues } from "./other-networks.ts"
import { place, singleNode } from "./placement.ts"
import type { KeptMachine } from "./plan.ts"
import { doubtNotes } from "./plan-notes.ts"

/** The desired state beside the observed one: everything that a deploy is planned from. Only the placements are chosen yet. */
export interface Survey {
  readonly desired: DesiredRange
  readonly identified: Identified
  /** Names of the machines within the limit, including those to be removed. */
  readonly limited: ReadonlySet<string>
  /** Ours, no longer in the configuration, and to be removed. */
  readonly pruned: readonly OwnMachine[]
  /** Ours, not as configured, and left as they are. */
  readonly kept: readonly KeptMachine[]
  readonly machineStates: ReadonlyMap<string, MachineState>
  readonly notes: readonly string[]
}

export const survey = (input: DeployInput): Result.Result<Survey, readonly PlanIssue[]> => {
  const { world, settings, range } = input
  const node = singleNode(world, settings)
  if (node === undefined) return Result.fail([{ code: "no-node", message: "no node of the hypervisor is up" }])
  const desired = desiredRange(input, node)
  const identified = identify(range.id, world)
  const wanted = new Map(desired.machines.map((m) => [m.name, m]))
  const unwanted = [...identified.own.values()].filter((o) => !wanted.has(o.mark.machine))
  const tagged = taggedTemplates(world.cluster.machines, range.id)
  const limited = matchHosts(input.choice.limit, [
    // machines are in the group of their operating system, as in the inventory
    ...desired.machines.map(({ name, groups, os, template }) => ({
      name,
      groups: [...groups, osIdOf({ kind: os, claimed: undefined, tagged: tagged.get(template), template }) ?? os],
    })),
    ...unwanted.map((o) => ({ name: o.mark.machine, groups: o.groups })),
  ])
  if (Result.isFailure(limited)) return Result.fail(limited.failure)
  const blocked = blockedMachines(input, desired, identified, limited.success)
  const isPruned = ({ mark }: OwnMachine): boolean =>
    input.choice.prune && makesMachines(input.choice, false) && limited.success.has(mark.machine)
  const staying = unwanted.filter((own) => !isPruned(own))
  const taken = takenAddresses(
    input,
    desired.machines.filter((m) => limited.success.has(m.name)),
    identified.own,
    staying,
  )
  const issues = [
    ...networkIssues(input, desired),
    ...otherNetworkIssues(input, identified),
    ...blocked.values(),
    ...taken.issues,
  ]
  const { there, toMake, older } = sortOut(input, desired, identified, (name) => limited.success.has(name) && !blocked.has(name))
  const placed = place({
    machines: toMake.map((m) => m.machine),
    waking: [...there.values()].flatMap((s) => (s.kind === "there" ? wakingOf(s.existing) : [])),
    world,
    settings,
    defaultTarget: defaultTargetOf(input),
  })
  if (Result.isFailure(placed)) return Result.fail([...issues, ...placed.failure])
  const machineStates = new Map(there)
  for (const { machine, replaces } of toMake) {
    const vmid = replaces?.observed.vmid ?? world.reservations.get(machine.name)
    if (vmid === undefined) issues.push({ code: "no-vmid", message: `no VMID is reserved for ${machine.name}` })
    else machineStates.set(machine.name, { kind: "new", vmid, placed: placed.success.get(machine.name)!, replaces })
  }
  return issues.length > 0
    ? Result.fail(issues)
    : Result.succeed({
        desired,
        identified,
        limited: limited.success,
        pruned: unwanted.filter(isPruned),
        kept: [...older, ...staying.map(({ observed, mark }) => ({ machine: mark.machine, vmid: observed.vmid }))],
        machineStates,
        notes: [
          ...taken.notes,
          ...doubtNotes(world),
          ...strangers(identified),
          ...(isOlderNetwork(input, desired)
            ? [
                `the network ${desired.network.name} belongs to an older service: it is used as it is, and stays when the range is deleted`,
              ]
            : []),
          ...unmovedNotes(input, desired, there),
          ...takenNotes(world.reservations, input, machineStates),
        ],
      })
}

interface Sorted {
  readonly there: ReadonlyMap<string, MachineState>
  readonly toMake: readonly { readonly machine: DesiredMachine; readonly replaces: OwnMachine | undefined }[]
  /** Left as they are although the configuration names another template. */
  readonly older: readonly KeptMachine[]
}

/** Sorts the machines into those that exist and stay, and those to create, which may replace others. */
const sortOut = (
  { choice }: DeployInput,
  desired: DesiredRange,
  { own }: Identified,
  mayChange: (name: string) => boolean,
): Sorted => {
  const there = new Map<string, MachineState>()
  const toMake: Sorted["toMake"][number][] = []
  const older: KeptMachine[] = []
  for (const machine of desired.machines) {
    const existing = own.get(machine.name)
    if (existing === undefined) {
      if (mayChange(machine.name)) toMake.push({ machine, replaces: undefined })
      continue
    }
    const made = otherTemplate(machine, existing)
    if (made !== undefined && choice.replace && makesMachines(choice, machine.isRouter) && mayChange(machine.name)) {
      toMake.push({ machine, replaces: existing })
      continue
    }
    there.set(machine.name, { kind: "there", existing })
    if (made !== undefined)
      older.push({ machine: machine.name, vmid: existing.observed.vmid, template: { made, wanted: machine.template } })
  }
  return { there, toMake, older }
}

const wakingOf = ({ observed, detail }: OwnMachine) =>
  observed.power === "stopped" ? [{ node: observed.node, memoryMiB: detail.memoryMiB, cpus: detail.cpus }] : []

const defaultTargetOf = ({ config, range }: DeployInput): string | undefined =>
  config.defaults.targetNode === undefined ? undefined : renderName(config.defaults.targetNode, { rangeId: range.id })

/** VMs in the range's pool that stay as they are. */
const strangers = ({ foreign, unreadable }: Identified): readonly string[] => [
  ...foreign.map((f) => `${labelOf(f.machine)} is in the range's pool and is never changed: ${f.why}`),
  ...unreadable.map(({ message }) => message),
]

/** Differences that no deploy changes: VMs stay on their node and keep the name that somebody gave them. */
const unmovedNotes = (input: DeployInput, desired: DesiredRange, there: ReadonlyMap<string, MachineState>): readonly string[] =>
  desired.machines.flatMap((machine) => {
    const machineState = there.get(machine.name)
    if (machineState?.kind !== "there") return []
    const { observed, detail } = machineState.existing
    const target = input.settings.clusterMode ? (machine.targetNode ?? defaultTargetOf(input)) : undefined
    return [
      ...(target !== undefined && target !== observed.node
        ? [`${machine.name} is on ${observed.node} but the configuration says ${target}: existing VMs are not moved`]
        : []),
      ...(detail.name === machine.name
        ? []
        : [`${machine.name} is named ${detail.name} on the hypervisor (VM ${observed.vmid})`]),
    ]
  })

const takenNotes = (
  reservations: ReadonlyMap<string, Vmid>,
  { world }: DeployInput,
  machineStates: ReadonlyMap<string, MachineState>,
): readonly string[] =>
  [...machineStates].flatMap(([name, s]) => {
    if (s.kind !== "new" || s.replaces !== undefined) return []
    const holder = world.cluster.machines.find((m) => m.vmid === reservations.get(name))
    return holder === undefined ? [] : [`VMID ${holder.vmid}, reserved for ${name}, is in use: another one will be chosen`]
  })
