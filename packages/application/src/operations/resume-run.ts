import { Conflict, InvalidInput, QuotaExceeded, rangeOf, subjectText, type User } from "@rangewright/domain"
import { Ranges, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { findRun } from "../run/find-run.ts"
import { mayResume, resumeAccess } from "../run/may-resume.ts"
import { restoreRequest, type RunRequest, storeRequest } from "../run/request.ts"
import { RunEngine } from "@rangewright/run-engine"
import { confirmationOf, readConfirmation } from "../range/confirmed-plan.ts"
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

const doingOf = (run: RunRecord): string => `resume run ${run.id} of ${subjectText(run.subject)}`

/** The request that resumes the run. A deploy knows which run it resumes, so that a refusal can say so. */
const resumption = Effect.fnUntraced(function* ({ id }: RunRecord) {
  const engine = yield* RunEngine
  const asked = yield* engine.resumption(id)
  const request = restoreRequest(asked.options)
  return request?.kind === "deploy"
    ? { asked, request: { ...request, options: { ...request.options, resumes: id } } }
    : { asked, request }
})

/** What the resumed run would do; starts nothing. */
const rest = Effect.fnUntraced(function* (run: RunRecord, user: User, request: RunRequest | undefined) {
  const planner = yield* RunPlanner
  const ranges = yield* Ranges
  const rangeId = rangeOf(run)
  const range = rangeId === undefined ? undefined : yield* ranges.find(rangeId)
  if (range === undefined || request === undefined)
    return yield* new InvalidInput({ what: `Cannot plan the rest of run ${run.id}: only runs of ranges are planned` })
  const plan = yield* planner.plan(range, request, user.id, "preview")
  const confirm = request.kind === "deploy" ? confirmationOf(request.options, plan) : undefined
  return { result: `Plan of the rest of run ${run.id}: ${changeCounts(plan.changes)}`, plan: planObject(plan, confirm) }
})

/** The request that resumes the run; with a confirmation one that does exactly what the confirmed plan showed, or nothing. */
const resuming = Effect.fnUntraced(function* (run: RunRecord, confirm: string | undefined) {
  const { asked, request } = yield* resumption(run)
  const doing = doingOf(run)
  if (request?.kind !== "deploy")
    return confirm === undefined
      ? asked
      : yield* new InvalidInput({
          what: `Cannot ${doing}: only the plan of a deploy can be confirmed`,
          hint: "Send the request without confirm.",
        })
  const source = `POST /runs/${run.id}/resume with dryRun`
  const confirmed = confirm === undefined ? {} : { confirmed: (yield* readConfirmation(confirm, { doing, source })).confirmed }
  return { ...asked, options: storeRequest({ kind: "deploy", options: { ...request.options, ...confirmed } }) }
})

export const resumeRun = operation({
  id: "resumeRun",
  route: "POST /runs/{runID}/resume",
  group: "Range",
  origin: "ours",
  does: "resume a run",
  summary: "Resume a failed or aborted run from where it stopped, as a new run; with dryRun, only plan it",
  access: "range-access",
  accessNote: resumeAccess,
  target: "none",
  path: { runID: Schema.String },
  query: { dryRun: Schema.optionalKey(BooleanText), confirm: Schema.optionalKey(Schema.String) },
  body: {
    type: "json",
    required: false,
    /** In the body as well as in the query: a request for a plan must not start a run. */
    schema: Schema.Struct({
      dryRun: Schema.optionalKey(Schema.Boolean),
      /** `confirm` of the plan of a deploy's rest: does exactly what that plan showed, or nothing. */
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
    }).annotate({ identifier: "RunResumed" }),
  },
  statuses: {
    200: "a new run was started; with dryRun: its plan",
    400: "with dryRun: the run is not of a range; confirm is not from a plan, or the run is not a deploy; the body is malformed",
    ...runStatuses,
    403: `${runStatuses[403]}; the run may only be resumed by others; the licence does not include what it does`,
    409: "the run is not over or succeeded; another run is changing the same object; it cannot be planned; it may remove machines and the configuration has changed; the plan differs from what was confirmed",
    502: hypervisorAway,
  },
  handle: ({ path, query, body, user }) =>
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const run = yield* findRun(path.runID, user)
      yield* mayResume(run, user)
      yield* requireSameConfiguration(run)
      const asked = yield* resuming(run, body?.confirm ?? query.confirm)
      if (query.dryRun === true || body?.dryRun === true) return yield* rest(run, user, restoreRequest(asked.options))
      const next = yield* engine
        .start(asked, user.id)
        .pipe(
          Effect.mapError((fault) =>
            fault instanceof QuotaExceeded ? new QuotaExceeded({ ...fault.facts, doing: doingOf(run) }) : fault,
          ),
        )
      return { result: `Run ${run.id} of ${subjectText(run.subject)} resumed as run ${next.id}`, runID: next.id }
    }),
})
