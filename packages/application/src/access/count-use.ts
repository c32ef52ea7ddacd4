import { type RangeId, rootUserId } from "@rangewright/domain"
import type { Activity, RangeUse } from "../activity.ts"

/** Counts a use of a range, unless ROOT's key was sent: scripts of the operator use that one. */
export const countUse = (activity: Activity["Service"], id: RangeId, use: RangeUse): void => {
  if (use.by !== rootUserId) activity.range(id, use)
}
