import { Conflict, InvalidInput, rangeOf, subjectText, type User } from "@rangewright/domain"
import { Ranges, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { findRun, runAccess } from "../run/find-run.ts"
import { restoreRequest } from "../run/request.ts"
import { RunEngine } from "@rangewright/run-engine"
import { RunPlanner } from "../run/planner.ts"
import { BooleanText } from "../wire/parameters.ts"
import { changeCounts, planObject, PlanObject } from "../wire/plan.ts"
import { hypervisorAway, runStatuses } from "../wire/statuses.ts"

/** A deploy that may remove or replace machines resumes only with the configuration that it started with: another one could remove others. */
const requireSameConfiguration = Effect.fnUntraced(function* (run: RunRecord) {
  const rangeId = rangeOf(run)
  const request = restoreRequest(run.options)
  if (rangeId === undefined || request?.kind !== "deploy" || !(request.options.prune || request.options.replace)) return
  const ranges = yield* Ranges
  const journal = yield* RunJournal
  const [newest] = yield* journal.list({ subject: run.subject, kinds: [run.kind], limit: 1 })
  const current = yield* ranges.config(rangeId)
  // the deployed configuration is that of the newest deploy
  if (newest?.id === run.id && current?.text === (yield* ranges.deployedConfig(rangeId))) return
  return yield* new Conflict({
    what: `Cannot resume run ${run.id}: it may remove or replace machines, and the configuration of range ${rangeId} has changed or was deployed again since`,
    hint: "Review a new plan and deploy it.",
  })
})

/** What the resumed run would do; starts nothing. */
const rest = Effect.fnUntraced(function* (run: RunRecord, user: User) {
  const engine = yield* RunEngine
  const planner = yield* RunPlanner
  const ranges = yield* Ranges
  const request = restoreRequest((yield* engine.resumption(run.id)).options)
  const rangeId = rangeOf(run)
  const range = rangeId === undefined ? undefined : yield* ranges.find(rangeId)
  if (range === undefined || request === undefined)
    return yield* new InvalidInput({ what: `Cannot plan the rest of run ${run.id}: only runs of ranges are planned` })
  const plan = yield* planner.plan(range, request, user.id, "preview")
  return { result: `Plan of the rest of run ${run.id}: ${changeCounts(plan.changes)}`, plan: planObject(plan) }
})

export const resumeRun = operation({
  id: "resumeRun",
  route: "POST /runs/{runID}/resume",
  group: "Range",
  origin: "ours",
  does: "resume a run",
  summary: "Resume a failed or aborted run from where it stopped, as a new run, or with dryRun only plan that",
  access: "range-access",
  accessNote: runAccess,
  target: "none",
  path: { runID: Schema.String },
  query: { dryRun: Schema.optionalKey(BooleanText) },
  body: {
    type: "json",
    required: false,
    /** In the body as well as in the query: a request for a plan must not start a run. */
    schema: Schema.Struct({ dryRun: Schema.optionalKey(Schema.Boolean) }),
  },
  output: {
    type: "json",
    schema: Schema.Struct({
      result: Schema.String,
      /** The run that was started. */
      runID: Schema.optionalKey(Schema.String),
      /** With dryRun: what a run would do. */
      plan: Schema.optionalKey(PlanObject),
    }).annotate({ identifier: "RunResumed" }),
  },
  statuses: {
    200: "a new run was started, or with dryRun planned",
    400: "with dryRun: the run is not of a range; the body is malformed",
    ...runStatuses,
    409: "the run is not over or succeeded; another run is changing the same object; it cannot be planned; it may remove machines and the configuration has changed",
    502: hypervisorAway,
  },
  handle: ({ path, query, body, user }) =>
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const run = yield* findRun(path.runID, user)
      yield* requireSameConfiguration(run)
      if (query.dryRun === true || body?.dryRun === true) return yield* rest(run, user)
      const next = yield* engine.resume(run.id, user.id)
      return { result: `Run ${run.id} of ${subjectText(run.subject)} resumed as run ${next.id}`, runID: next.id }
    }),
})
