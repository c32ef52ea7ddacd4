import { InvalidInput, snapshotTextProblem } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { changeSnapshots, markedText } from "../range/change-snapshots.ts"
import { SnapshotCreatePayload, SnapshotOutcome, snapshotStatuses } from "../wire/snapshot.ts"

export const snapshotsTake = operation({
  id: "snapshotsTake",
  route: "POST /snapshots/create",
  group: "Snapshot",
  does: "take snapshots",
  summary: "Take a snapshot of machines of the range, or of all",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: SnapshotCreatePayload },
  output: { type: "json", schema: SnapshotOutcome },
  statuses: snapshotStatuses,
  handle: ({ range, body, user }) =>
    Effect.gen(function* () {
      const { name, description = "", includeRAM: memory = false, atomic = false } = body
      const doing = `take snapshots of machines of range ${range.id}`
      const problem = snapshotTextProblem(description)
      if (problem !== undefined)
        return yield* new InvalidInput({
          what: `Cannot ${doing}: ${problem}`,
          issues: [{ path: "description", message: problem }],
        })
      const text = yield* markedText(description)
      return yield* changeSnapshots(
        doing,
        range,
        body,
        (vmids) => ({ kind: "snapshot-create", name, description: text, memory, atomic, vmids }),
        user.id,
      )
    }),
})
