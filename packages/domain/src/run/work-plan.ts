import { criticalPath } from "../plan/schedule.ts"
import type { Change, Plan, Step } from "../plan/plan.ts"

/** The plan of a run that does not concern a range. `notes`: remarks for its reader. */
export const workPlan = (
  steps: readonly Step[],
  told: { readonly changes?: readonly Change[]; readonly notes?: readonly string[] } = {},
): Plan => ({
  rangeId: undefined,
  steps,
  changes: told.changes ?? [],
  placements: [],
  allocations: [],
  notes: told.notes ?? [],
  criticalPathSeconds: criticalPath(steps).seconds,
})
