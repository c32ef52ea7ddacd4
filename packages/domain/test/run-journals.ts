import type { Action, JournalEntry, MachineRef, Plan, RangeId, RunEvent, Step, Vmid } from "@rangewright/domain"

const at = (second: number): Date => new Date(Date.UTC(2030, 0, 1, 0, 0, second))

/** Entries numbered from 1, one second apart. */
export const entriesOf = (events: readonly RunEvent[]): readonly JournalEntry[] =>
  events.map((event, i) => ({ seq: i + 1, at: at(i + 1), event }))

export const secondOf = at

export const refTo = (machine: string, vmid: number): MachineRef => ({
  vmid: vmid as Vmid,
  node: "node1",
  mark: { range: "LAB" as RangeId, machine },
})

export const stepOf = (key: string, after: readonly string[], estimate = 10, action?: Action): Step => {
  const machine = key.split(":")[1]
  return {
    key,
    title: `Do ${key}`,
    tag: undefined,
    machine,
    action: action ?? { kind: "start", machine: refTo(machine ?? "x", 200), untilAgent: false },
    after,
    uses: [],
    estimate,
  }
}

export const planOf = (steps: readonly Step[], notes: readonly string[] = []): Plan => ({
  rangeId: "LAB" as RangeId,
  steps,
  changes: [],
  placements: [],
  allocations: [],
  notes,
  criticalPathSeconds: 30,
})
