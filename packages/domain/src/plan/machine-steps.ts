import type { MachineRef, MachineSettings } from "./action.ts"
import type { OwnMachine } from "./identify.ts"
import type { ResourceUse, Step } from "./plan.ts"
import { slots, timing } from "./timing.ts"

/** Steps that take a VM of ours away, as every kind of plan uses them. */
type Draft = Omit<Step, "tag" | "machine">

export const refOf = ({ observed, mark }: OwnMachine): MachineRef => ({
  vmid: observed.vmid,
  node: observed.node,
  mark: { range: mark.range, machine: mark.machine },
})

export const bootUse = (node: string): ResourceUse => ({ resource: `boot@${node}`, slots: slots.boot })

export const isRunning = (machine: OwnMachine): boolean => machine.observed.power === "running"

/** Seconds that a guest gets to end by itself before it is stopped hard. */
export const shutdownPatience = 180

/** Pulls the plug of a VM that is not known to be off. */
export const stopStep = (machine: OwnMachine, after: readonly string[]): Draft => ({
  key: `stop:${machine.mark.machine}`,
  title: `Stop ${machine.mark.machine}`,
  action: { kind: "stop", machine: refOf(machine) },
  after,
  uses: [],
  estimate: timing.stop,
})

/** Sets a VM that was rolled back to what it had before, where that could not be done at once. */
export const owedStep = (machine: OwnMachine, settings: MachineSettings): Draft => ({
  key: `configure:${machine.mark.machine}`,
  title: `Set ${machine.mark.machine} to what it had before its rollback`,
  action: { kind: "configure", machine: refOf(machine), settings },
  after: [],
  uses: [],
  estimate: timing.configure,
})

/** Removing volumes waits for the lock of their storage, as making them does. */
export const deleteStep = (machine: OwnMachine, after: readonly string[]): Draft => {
  const { storage } = machine.detail
  const place = storage === undefined ? machine.observed.node : `${machine.observed.node}/${storage}`
  return {
    key: `delete:${machine.mark.machine}`,
    title: `Delete ${machine.mark.machine}`,
    action: { kind: "delete", machine: refOf(machine) },
    after,
    uses: [{ resource: `clone@${place}`, slots: slots.clone }],
    estimate: timing.delete,
  }
}

/** Stops the VM where it may be running, then deletes it. */
export const removeSteps = (machine: OwnMachine): readonly Draft[] => {
  if (machine.observed.power === "stopped") return [deleteStep(machine, [])]
  const stop = stopStep(machine, [])
  return [stop, deleteStep(machine, [stop.key])]
}
