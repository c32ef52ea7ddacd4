import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { deployOptions } from "../range/deploy-options.ts"
import { RunEngine } from "../run/run-engine.ts"
import { PlanChange } from "../wire/plan.ts"
import { hypervisorAway, rangeStatuses } from "../wire/statuses.ts"

export const getRangeDrift = operation({
  id: "getRangeDrift",
  route: "GET /range/drift",
  group: "Range",
  origin: "ours",
  summary: "How what is there differs from the configuration",
  access: "range-access",
  target: "range",
  output: {
    type: "json",
    schema: Schema.Struct({
      /** Nothing differs. */
      inSync: Schema.Boolean,
      differences: Schema.Array(PlanChange),
      notes: Schema.Array(Schema.String),
    }).annotate({ identifier: "Drift" }),
  },
  statuses: {
    200: "the differences; none when a deploy would change nothing",
    ...rangeStatuses,
    404: "the range is unknown, or none is selected; it has no configuration",
    409: "the range cannot be planned: every reason is listed",
    502: hypervisorAway,
  },
  handle: ({ range, user }) =>
    Effect.gen(function* () {
      // force: testing mode forbids deploying, not looking. Against a plan that reads only, it changes nothing
      const options = yield* deployOptions({ force: range.testing.enabled })
      const plan = yield* (yield* RunEngine).preview(range, { kind: "deploy", options }, user.id)
      const differences = plan.changes.filter((change) => change.kind !== "none")
      return { inSync: differences.length === 0, differences, notes: plan.notes }
    }),
})
