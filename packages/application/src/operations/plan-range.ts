import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { confirmationOf } from "../range/confirmed-plan.ts"
import { deployOptions } from "../range/deploy-options.ts"
import { quotaWarnings } from "../range/quota-warnings.ts"
import { RunPlanner } from "../run/planner.ts"
import { tellTemplates } from "../template/tell-templates.ts"
import { BooleanText, commaList } from "../wire/parameters.ts"
import { planObject, PlanObject, RoleOrder } from "../wire/plan.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const planRange = operation({
  id: "planRange",
  route: "GET /range/plan",
  group: "Range",
  origin: "ours",
  does: "plan a deploy of a range",
  summary: "What a deploy would do now; changes nothing",
  access: "range-access",
  target: "range",
  query: {
    tags: Schema.optionalKey(Schema.String),
    limit: Schema.optionalKey(Schema.String),
    only_roles: Schema.optionalKey(Schema.String),
    force: Schema.optionalKey(BooleanText),
    role_order: Schema.optionalKey(RoleOrder),
    prune: Schema.optionalKey(BooleanText),
    replace: Schema.optionalKey(BooleanText),
  },
  output: { type: "json", schema: PlanObject },
  statuses: {
    200: "the plan; no steps when nothing differs",
    400: "a tag is not known; a named role is not installed",
    404: "the range is unknown, or none is selected; it has no configuration",
    409: "testing mode is on and force is not set; the range cannot be planned: every reason is listed",
    502: hypervisorAway,
  },
  handle: ({ range, user, query }) =>
    Effect.gen(function* () {
      const planner = yield* RunPlanner
      const { only_roles, ...asked } = query
      const options = yield* deployOptions({ ...asked, only_roles: commaList(only_roles ?? "") })
      const plan = yield* planner.plan(range, { kind: "deploy", options }, user.id, "preview").pipe(tellTemplates(user))
      return planObject({ ...plan, notes: [...plan.notes, ...(yield* quotaWarnings(range))] }, confirmationOf(options, plan))
    }),
})
