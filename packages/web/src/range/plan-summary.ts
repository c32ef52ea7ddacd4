import type { Plan } from "@rangewright/application/wire"
import { duration } from "../parts/format.ts"
import { t } from "../texts.ts"

const counted = ["create", "change", "replace", "remove"] as const
/** What a deploy would do, in one sentence. */
export const planSummary = (plan: Plan): string => {
  const parts = counted.flatMap((kind) => {
    const count = plan.changes.filter((one) => one.kind === kind).length
    return count === 0 ? [] : [t.plan.verbs[kind](count)]
  })
  const takes = t.plan.takes(duration(plan.estimateSeconds), plan.steps.length, plan.fromEarlierRuns)
  return t.plan.summary(parts, takes)
}
