import {
  isAnyBlueprintId,
  isGroupName,
  isRangeId,
  isRecordId,
  isRunId,
  isSnapshotId,
  isSourceId,
  isUserId,
  isVmid,
} from "@rangewright/domain"
import { id, numbered, text } from "./column.ts"

/** The ids of the domain, as columns. */
export const blueprintId = id("the id of a blueprint", isAnyBlueprintId)
export const groupName = id("the name of a group", isGroupName)
export const rangeId = id("the ID of a range", isRangeId)
export const recordId = id("the id of a record", isRecordId)
export const runId = id("the id of a run", isRunId)
export const snapshotId = id("the id of a snapshot", isSnapshotId, text.property)
export const sourceId = id("the id of a source", isSourceId)
export const userId = id("the id of a user", isUserId)
export const vmid = numbered("the number of a VM", isVmid)
