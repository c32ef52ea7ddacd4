import { criticalPath } from "../plan/schedule.ts"
import type { Change, Plan, Step } from "../plan/plan.ts"

/** The plan of a run that is about something else than a range. `notes`: what its reader should know. */
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
