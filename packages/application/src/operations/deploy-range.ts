import { keptTexts, leftOutTexts, noteTexts, type Plan } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { confirmationOf, confirmedOptions } from "../range/confirmed-plan.ts"
import { deployOptions, requestedDeployFields } from "../range/deploy-options.ts"
import { quotaWarnings } from "../range/quota-warnings.ts"
import { RunEngine } from "@rangewright/run-engine"
import { RunPlanner } from "../run/planner.ts"
import { tellTemplates } from "../template/tell-templates.ts"
import { rangeRequest } from "../run/request.ts"
import { BooleanText } from "../wire/parameters.ts"
import { changeCounts, planObject, PlanObject, RoleOrder } from "../wire/plan.ts"
import { hypervisorAway } from "../wire/statuses.ts"

/** What the caller should know of a plan, a line each. */
const tellOf = (plan: Plan | undefined): readonly string[] => [
  ...keptTexts(plan?.kept),
  ...leftOutTexts(plan),
  ...noteTexts(plan),
]

export const deployRange = operation({
  id: "deployRange",
  route: "POST /range/deploy",
  group: "Range",
  does: "deploy a range",
  summary: "Start a deploy, or with dryRun only plan it",
  access: "range-access",
  target: "range",
  query: { dryRun: Schema.optionalKey(BooleanText), role_order: Schema.optionalKey(RoleOrder) },
  body: {
    type: "json",
    required: false,
    schema: Schema.Struct({
      ...requestedDeployFields,
      /** In the body as well as in the query: a request for a plan must not start a deploy. */
      dryRun: Schema.optionalKey(Schema.Boolean),
      /**
       * `confirm` of a plan: does exactly what that plan showed, with its options, or nothing. No other option but dryRun may be sent with
       * it.
       */
      confirm: Schema.optionalKey(Schema.String),
    }),
  },
  output: {
    type: "json",
    schema: Schema.Struct({
      result: Schema.String,
      /** The run that was started. */
      runID: Schema.optionalKey(Schema.String),
      /** With dryRun: what a run would do. */
      plan: Schema.optionalKey(PlanObject),
    }).annotate({ identifier: "DeployResult" }),
  },
  statuses: {
    200: "the deploy was started, or with dryRun planned; the text names the machines that stay although they are not as configured",
    400: "a tag is not known; confirm is not from a plan, or was planned with other options; a named role is not installed; the body is malformed",
    403: "the quota of the user who is charged for the range does not allow it",
    404: "the range is unknown, or none is selected; it has no configuration",
    409: "a run is changing the range; testing mode is on and force is not set; the range cannot be planned: every reason is listed; the plan differs from what was confirmed",
    502: hypervisorAway,
  },
  handle: ({ range, user, query, body }) =>
    Effect.gen(function* () {
      const planner = yield* RunPlanner
      const engine = yield* RunEngine
      const { confirm, ...asked } = { ...query, ...body }
      const options = yield* confirm === undefined ? deployOptions(asked) : confirmedOptions(range, confirm, asked)
      const request = { kind: "deploy", options } as const
      if (query.dryRun === true || body?.dryRun === true) {
        const plan = yield* planner.plan(range, request, user.id, "preview").pipe(tellTemplates(user))
        const warnings = yield* quotaWarnings(range)
        const result = [`Plan of range ${range.id}: ${changeCounts(plan.changes)}`, ...tellOf(plan), ...warnings].join("\n")
        return { result, plan: planObject({ ...plan, notes: [...plan.notes, ...warnings] }, confirmationOf(options, plan)) }
      }
      const run = yield* engine.start(rangeRequest(range, request), user.id).pipe(tellTemplates(user))
      const begins = run.blockedBy === undefined ? "" : `; it begins automatically when run ${run.blockedBy} has ended`
      // such as a deploy of a role that no machine has
      const idle = run.plan?.steps.length === 0 ? ["Nothing to do."] : []
      const result = [`Deploy of range ${range.id} started as run ${run.id}${begins}`, ...idle, ...tellOf(run.plan)].join("\n")
      return { result, runID: run.id }
    }),
})
