import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { snapshotSets } from "../range/snapshot-sets.ts"
import { BooleanText } from "../wire/parameters.ts"
import { SnapshotSets } from "../wire/snapshot.ts"

export const getSnapshotSets = operation({
  id: "getSnapshotSets",
  origin: "ours",
  route: "GET /snapshots/sets",
  group: "Snapshot",
  does: "list snapshots",
  summary: "Snapshots of the range's machines by name: which machines have each, and which lack it",
  access: "range-access",
  target: "range",
  query: {
    /** Reads them from the hypervisor now. */
    refresh: Schema.optionalKey(BooleanText),
  },
  output: { type: "json", schema: SnapshotSets },
  statuses: { 200: "the sets, most recently taken first" },
  handle: ({ range, query }) => snapshotSets(range, query.refresh === true),
})
