import { type RangeId, rangeSubject } from "@rangewright/domain"
import { Machines, RunJournal } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { machineFor } from "../access/machine-for.ts"
import { longRead } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { rangeTopology } from "../range/range-topology.ts"
import { MachineObject, machineObject } from "../wire/machine.ts"
import { WholeNumberText } from "../wire/parameters.ts"

/** Number of newest runs that are searched for a change of the machine: each is a journal to read. */
const lookedThrough = 3

/** The newest run that started a step on the machine. */
const lastChangeOf = Effect.fnUntraced(function* (rangeId: RangeId, name: string | undefined) {
  const journal = yield* RunJournal
  const engine = yield* RunEngine
  if (name === undefined) return undefined
  for (const run of yield* journal.list({ subject: rangeSubject(rangeId), limit: lookedThrough })) {
    // skips a run that cannot be read, or is just being removed
    const state = yield* Effect.option(engine.state(run.id))
    const steps = state._tag === "Some" ? [...state.value.steps.values()] : []
    if (steps.some(({ step: { machine }, attempt }) => machine === name && attempt > 0)) return run
  }
  return undefined
})

export const getMachine = operation({
  id: "getMachine",
  route: "GET /machine/{vmID}",
  group: "VM",
  origin: "ours",
  does: "read a machine",
  summary: "One machine of a range: where it runs, its place in the network, what its guest says, and its last change",
  access: "range-access",
  accessNote: "of the range that holds the machine",
  target: "none",
  path: { vmID: WholeNumberText },
  output: { type: "json", schema: MachineObject },
  statuses: {
    200: "the machine as it was last seen",
    400: "the ID is not a number",
    403: "the caller may not use its range",
    404: "no range has this machine",
  },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const { machine, range } = yield* machineFor(user, path.vmID)
      const { vmid } = machine
      return machineObject({
        range,
        machine,
        topology: yield* rangeTopology(range, yield* machines.ofRange(range.id)),
        system: (yield* machines.systems(range.id)).get(vmid),
        snapshots: (yield* machines.snapshots(range.id)).get(vmid),
        lastChange: yield* longRead(lastChangeOf(range.id, machine.name)),
        freshness: yield* machines.freshness,
      })
    }),
})
