import type { MachineRef } from "./action.ts"
import type { DesiredMachine, DesiredRange } from "./desired.ts"
import type { DesiredStage } from "./desired-stages.ts"
import { expectedStage } from "./durations.ts"
import { stageFingerprint } from "./fingerprint.ts"
import type { Task, TaskState } from "./task.ts"
import { slots } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

/** A machine, as far as its stages need it. */
export interface StageHost {
  readonly ref: MachineRef
  /** True: this plan creates it, so nothing has run in it. */
  readonly isNew: boolean
  /** Keys that its first stage waits for. */
  readonly after: readonly string[]
}

/**
 * The stages of every machine that can be reached, chained per machine, with the edges between machines. A stage that has already run with
 * the same input is done, unless the stage that its effect depends on has to run from scratch.
 */
export const stageTasks = (desired: DesiredRange, hosts: ReadonlyMap<string, StageHost>, world: PlanWorld): readonly Task[] => {
  const reachable = desired.machines.flatMap((machine) => {
    const host = hosts.get(machine.name)
    return host === undefined ? [] : [{ machine, host }]
  })
  const known = new Set(reachable.flatMap(({ machine }) => machine.stages.map((s) => s.key)))
  const renewed = new Set(
    reachable.flatMap(({ machine, host }) =>
      machine.stages.filter((s) => stageState(world, machine, host, s) === "missing").map((s) => s.key),
    ),
  )
  return reachable.flatMap(({ machine, host }) =>
    machine.stages.map((stage, i): Task => {
      const lost = stage.renewedBy !== undefined && renewed.has(stage.renewedBy)
      const before = machine.stages[i - 1]
      return {
        key: stage.key,
        title: stage.title,
        machine: machine.name,
        tags: stage.tags,
        state: lost ? "missing" : stageState(world, machine, host, stage),
        role: stage.role,
        action: { kind: "guest", machine: host.ref, os: stage.os, stage: stage.stage, input: stage.input },
        after: [...new Set([...(before === undefined ? host.after : [before.key]), ...stage.needs.filter((k) => known.has(k))])],
        uses: [{ resource: "automation", slots: slots.automation, ofHost: true }],
        ...expectedStage(world, { ...stage, isAgain: !lost && hasRun(world, host, stage) }),
      }
    }),
  )
}

/** Whether the stage has succeeded in the machine before. */
const hasRun = (world: PlanWorld, { isNew, ref }: StageHost, { key }: DesiredStage): boolean =>
  !isNew && world.stages.get(ref.vmid)?.has(key) === true

const stageState = (world: PlanWorld, machine: DesiredMachine, host: StageHost, stage: DesiredStage): TaskState => {
  const recorded = host.isNew ? undefined : world.stages.get(host.ref.vmid)?.get(stage.key)
  if (recorded === undefined) return "missing"
  if (recorded !== stageFingerprint(stage.input)) return "outdated"
  return stage.stage === "address" && strayAddress(world, machine, host) !== undefined ? "outdated" : "done"
}

/** The machine's own address that its guest was seen with instead of the wanted one; undefined when it has that one, or none is known. */
export const strayAddress = (world: PlanWorld, machine: DesiredMachine, host: Pick<StageHost, "ref">): string | undefined => {
  const seen = world.addresses.get(host.ref.vmid)
  return machine.isRouter || seen === machine.address ? undefined : seen
}
