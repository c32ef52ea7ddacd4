import { operation } from "../operation/operation.ts"
import { changeSnapshots } from "../range/change-snapshots.ts"
import { SnapshotOutcome, SnapshotSelectPayload, snapshotStatuses } from "../wire/snapshot.ts"

export const snapshotsRemove = operation({
  id: "snapshotsRemove",
  route: "POST /snapshots/remove",
  group: "Snapshot",
  does: "remove snapshots",
  summary: "Remove a snapshot of machines of the range, or of all",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: SnapshotSelectPayload },
  output: { type: "json", schema: SnapshotOutcome },
  statuses: snapshotStatuses,
  handle: ({ range, body, user }) =>
    changeSnapshots(
      `remove snapshots of machines of range ${range.id}`,
      range,
      body,
      (vmids) => ({ kind: "snapshot-remove", name: body.name, vmids }),
      user.id,
    ),
})
