import type { MachineRef, MachineSettings } from "./action.ts"
import type { OwnMachine } from "./identify.ts"
import type { ResourceUse, Step } from "./plan.ts"
import { slots, timing } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

/** Steps on a VM of ours that every kind of plan uses. */
type Draft = Omit<Step, "tag" | "machine">

export const refOf = ({ observed, mark }: OwnMachine): MachineRef => ({
  vmid: observed.vmid,
  node: observed.node,
  mark: { range: mark.range, machine: mark.machine },
})

export const bootUse = (node: string): ResourceUse => ({ resource: `boot@${node}`, slots: slots.boot })

export const isRunning = (machine: OwnMachine): boolean => machine.observed.power === "running"

/** Seconds that a guest gets to shut down before it is stopped hard. */
export const shutdownPatience = 180

/** Hard-stops a VM that is not known to be off. */
export const stopStep = (machine: OwnMachine, after: readonly string[]): Draft => ({
  key: `stop:${machine.mark.machine}`,
  title: `Stop ${machine.mark.machine}`,
  action: { kind: "stop", machine: refOf(machine) },
  after,
  uses: [],
  estimate: timing.stop,
})

/** Restores the settings of a VM that was rolled back, when that could not be done at once. */
export const owedStep = (machine: OwnMachine, settings: MachineSettings): Draft => ({
  key: `configure:${machine.mark.machine}`,
  title: `Restore the settings that ${machine.mark.machine} had before its rollback`,
  action: { kind: "configure", machine: refOf(machine), settings },
  after: [],
  uses: [],
  estimate: timing.configure,
})

/** Where a VM's volumes are, as far as locks go: a storage that all nodes share has one lock for all. */
export const storagePlace = ({ detail: { storage }, observed: { node } }: OwnMachine, { cluster }: PlanWorld): string => {
  if (storage === undefined) return node
  return cluster.storages.some(({ name, shared }) => name === storage && shared) ? storage : `${node}/${storage}`
}

/** Removing volumes waits for the lock of their storage, as creating them does, but holds it only briefly. */
const deleteStep = (machine: OwnMachine, world: PlanWorld, after: readonly string[]): Draft => ({
  key: `delete:${machine.mark.machine}`,
  title: `Delete ${machine.mark.machine}`,
  action: { kind: "delete", machine: refOf(machine) },
  after,
  uses: [{ resource: `delete@${storagePlace(machine, world)}`, slots: slots.delete }],
  estimate: timing.delete,
})

/** Stops the VM if it may be running, then deletes it. */
export const removeSteps = (machine: OwnMachine, world: PlanWorld): readonly Draft[] => {
  if (machine.observed.power === "stopped") return [deleteStep(machine, world, [])]
  const stop = stopStep(machine, [])
  return [stop, deleteStep(machine, world, [stop.key])]
}
