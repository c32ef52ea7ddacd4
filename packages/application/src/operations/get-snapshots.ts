import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { listSnapshots } from "../range/list-snapshots.ts"
import { BooleanText } from "../wire/parameters.ts"
import { SnapshotList } from "../wire/snapshot.ts"

export const getSnapshots = operation({
  id: "getSnapshots",
  route: "GET /snapshots/list",
  group: "Snapshot",
  does: "list snapshots",
  summary: "Snapshots of machines of the range, or of all",
  access: "range-access",
  target: "range",
  query: {
    /** Comma-separated list of VMIDs; empty means all. */
    vmids: Schema.optionalKey(Schema.String),
    /** Reads them from the hypervisor now. */
    refresh: Schema.optionalKey(BooleanText),
  },
  output: { type: "json", schema: SnapshotList },
  statuses: { 200: "snapshots of the machines, and machines that cannot be read" },
  handle: ({ range, query }) => listSnapshots(range, query.vmids, query.refresh === true),
})
