import { changeText, howTo, isClosed, type Range } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { AccessControl } from "../rights/access-control.ts"
import { RunPlanner } from "../run/planner.ts"
import { tellTemplates } from "../template/tell-templates.ts"
import { PlanChange } from "../wire/plan.ts"
import { hypervisorAway } from "../wire/statuses.ts"

/** Changed rules that the last inspection of the router found, until they are loaded again. */
const changedRules = Effect.fnUntraced(function* ({ id, testing }: Range) {
  const ranges = yield* Ranges
  const inspection = yield* ranges.inspection(id)
  if (inspection === undefined || testing.mode === "on") return []
  const seen = isClosed(testing) ? { rules: inspection.rules, at: inspection.at.getTime() } : inspection.since
  if (seen?.rules !== "changed") return []
  const way = isClosed(testing) ? howTo("PUT /testing/start", {}, id) : "a reboot of the router"
  return [`something on it has changed them, as seen at ${new Date(seen.at).toISOString()}: ${way} loads them again`]
})

export const getRangeDrift = operation({
  id: "getRangeDrift",
  route: "GET /range/drift",
  group: "Range",
  origin: "ours",
  does: "compare a range with its configuration",
  summary: "How the range differs from its configuration, and from who may use it",
  access: "range-access",
  target: "range",
  output: {
    type: "json",
    schema: Schema.Struct({
      /** True if nothing differs. */
      inSync: Schema.Boolean,
      differences: Schema.Array(PlanChange),
      notes: Schema.Array(Schema.String),
    }).annotate({ identifier: "Drift" }),
  },
  statuses: {
    200: "the differences, with what a deploy would keep although it is not as configured; none when all is as configured",
    404: "the range is unknown, or none is selected; it has no configuration",
    409: "the range cannot be planned: every reason is listed",
    502: hypervisorAway,
  },
  handle: ({ range, user }) =>
    Effect.gen(function* () {
      const planner = yield* RunPlanner
      const control = yield* AccessControl
      const { inSync, differences, notes } = yield* planner.drift(range, user.id).pipe(tellTemplates(user))
      const reasons = (yield* control.compareRange(range.id)).map(changeText)
      const more = [
        { kind: "change" as const, object: `access to ${range.id}`, reasons },
        { kind: "change" as const, object: `rules of the router of ${range.id}`, reasons: yield* changedRules(range) },
      ].filter((change) => change.reasons.length > 0)
      return { inSync: inSync && more.length === 0, differences: [...differences, ...more], notes }
    }),
})
