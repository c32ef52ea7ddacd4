import { operation } from "../operation/operation.ts"
import { changeSnapshots } from "../range/change-snapshots.ts"
import { SnapshotOutcome, SnapshotRollbackPayload, snapshotStatuses } from "../wire/snapshot.ts"

export const snapshotsRollback = operation({
  id: "snapshotsRollback",
  route: "POST /snapshots/rollback",
  group: "Snapshot",
  does: "roll machines back to a snapshot",
  summary: "Roll machines of the range, or all, back to a snapshot; those that ran are started again",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: SnapshotRollbackPayload },
  output: { type: "json", schema: SnapshotOutcome },
  statuses: snapshotStatuses,
  handle: ({ range, body, user }) =>
    changeSnapshots(
      `roll machines of range ${range.id} back`,
      range,
      body,
      (vmids) => ({ kind: "snapshot-rollback", name: body.name, atomic: body.atomic ?? false, vmids }),
      user.id,
    ),
})
