import {
  criticalPathOf,
  expectedSecondsIn,
  groupBy,
  isRunning,
  type PastWait,
  progressOf,
  remainingText,
  type RunState,
  type StepState,
  subjectTypes,
  waitingFor,
} from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { RunStatusText } from "./log-history.ts"
import { planStep, PlanStep, tenths } from "./plan.ts"

const summary = {
  id: Schema.String,
  /** `deploy`, `destroy`, `power` …; other subjects have their own kinds. */
  kind: Schema.String,
  /** What it changes. */
  subject: Schema.Struct({ type: Schema.Literals(subjectTypes), id: Schema.String }),
  /** For runs of a range. */
  rangeID: Schema.optionalKey(Schema.String),
  /** The user who requested it. */
  by: Schema.String,
  status: RunStatusText,
  startedAt: Schema.String,
  endedAt: Schema.optionalKey(Schema.String),
}

/** A run as lists show it. */
export const RunSummary = Schema.Struct(summary).annotate({ identifier: "RunSummary" })

export const StepFailureObject = Schema.Struct({
  fault: Schema.String,
  message: Schema.String,
  hint: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "StepFailure" })

/** A wait that began at `from`; without `to` it is not over. `behind`: the run that it waits for. */
const WaitObject = Schema.Struct({
  reason: Schema.String,
  from: Schema.String,
  to: Schema.optionalKey(Schema.String),
  behind: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "RunWait" })

const waits = Schema.optionalKey(Schema.Array(WaitObject))

export const RunStep = Schema.Struct({
  ...PlanStep.fields,
  phase: Schema.Literals(["planned", "started", "dispatched", "settled", "failed", "skipped"]),
  attempt: Schema.Int,
  /** Its attempts, oldest first; absent before the first. */
  attempts: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        startedAt: Schema.String,
        endedAt: Schema.optionalKey(Schema.String),
        failure: Schema.optionalKey(StepFailureObject),
      }),
    ),
  ),
  /** When and why it waited; absent if it did not. */
  waits,
  /** It is on the critical path. Absent: it is not. */
  critical: Schema.optionalKey(Schema.Literal(true)),
  startedAt: Schema.optionalKey(Schema.String),
  endedAt: Schema.optionalKey(Schema.String),
  changed: Schema.optionalKey(Schema.Boolean),
  address: Schema.optionalKey(Schema.String),
  warnings: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The result of the step; its shape depends on the run kind. */
  data: Schema.optionalKey(Schema.Unknown),
  /** While it is in progress: its estimate, corrected by how long other steps of this run took. */
  expectedSeconds: Schema.optionalKey(Schema.Number),
  /** Progress that the step reports, in its own units. */
  progress: Schema.optionalKey(Schema.Struct({ done: Schema.Number, total: Schema.optionalKey(Schema.Number) })),
  failure: Schema.optionalKey(StepFailureObject),
  skippedBecause: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "RunStep" })

/** A run with the state of each of its steps. */
export const RunObject = Schema.Struct({
  ...summary,
  message: Schema.String,
  /** What the run waits for while the hypervisor is unreachable; the run resumes automatically. */
  waiting: Schema.optionalKey(Schema.String),
  /** When and why the run as a whole waited; absent if it did not. */
  waits,
  cancelRequested: Schema.Boolean,
  /** Who was notified of its end, and why somebody could not be; absent: nobody was to be. */
  notified: Schema.optionalKey(Schema.Array(Schema.Struct({ to: Schema.String, because: Schema.optionalKey(Schema.String) }))),
  /** It is over without success, and the caller may resume it. */
  mayResume: Schema.Boolean,
  /** Last event ID so far: a stream after it misses nothing. */
  lastEventID: Schema.Int,
  progress: Schema.Struct({
    total: Schema.Int,
    done: Schema.Int,
    running: Schema.Int,
    failed: Schema.Int,
    skipped: Schema.Int,
    percent: Schema.Number,
    /** Estimate of the seconds until its end; not a promise. */
    remainingSeconds: Schema.optionalKey(Schema.Number),
    /**
     * The same in words, with what it is based on: `about 12 min left, from earlier runs`, `about 12 min left, a first guess`, `longer than
     * usual` or `longer than first guessed`. Absent when nothing can be said.
     */
    remaining: Schema.optionalKey(Schema.String),
  }),
  estimateSeconds: Schema.optionalKey(Schema.Number),
  notes: Schema.Array(Schema.String),
  steps: Schema.Array(RunStep),
}).annotate({ identifier: "Run" })

const when = <K extends string>(key: K, at: Date | undefined): { readonly [P in K]?: string } =>
  at === undefined ? {} : ({ [key]: at.toISOString() } as { readonly [P in K]: string })

export const runSummary = (run: RunRecord): typeof RunSummary.Type => ({
  ...(run.subject.type === "range" ? { rangeID: run.subject.id } : {}),
  id: run.id,
  kind: run.kind,
  subject: run.subject,
  by: run.by,
  status: run.status,
  startedAt: run.startedAt.toISOString(),
  ...when("endedAt", run.endedAt),
})

export const failureObject = (failure: NonNullable<StepState["failure"]>): typeof StepFailureObject.Type => ({
  fault: failure.tag,
  message: failure.message,
  ...(failure.hint === undefined ? {} : { hint: failure.hint }),
})

export const progressObject = ({ done, total }: NonNullable<StepState["progress"]>) => ({
  done,
  ...(total === undefined ? {} : { total }),
})

const attemptObject = ({ startedAt, endedAt, failure }: StepState["attempts"][number]) => ({
  startedAt: startedAt.toISOString(),
  ...when("endedAt", endedAt),
  ...(failure === undefined ? {} : { failure: failureObject(failure) }),
})

const waitObject = ({ reason, from, to, blockedBy }: PastWait): typeof WaitObject.Type => ({
  reason,
  from: from.toISOString(),
  ...when("to", to),
  ...(blockedBy === undefined ? {} : { behind: blockedBy }),
})

const waitObjects = (waits: readonly PastWait[] = []) => (waits.length === 0 ? {} : { waits: waits.map(waitObject) })

const runStep = (
  state: StepState,
  waits: readonly PastWait[] | undefined,
  critical: boolean,
  expectedOf: (step: StepState) => number,
): typeof RunStep.Type => ({
  ...planStep(state.step),
  phase: state.phase,
  attempt: state.attempt,
  ...(state.attempts.length === 0 ? {} : { attempts: state.attempts.map(attemptObject) }),
  ...waitObjects(waits),
  ...(critical ? { critical } : {}),
  ...when("startedAt", state.startedAt),
  ...when("endedAt", state.endedAt),
  ...(state.facts?.changed === undefined ? {} : { changed: state.facts.changed }),
  ...(state.facts?.address === undefined ? {} : { address: state.facts.address }),
  ...(state.facts?.warnings === undefined ? {} : { warnings: state.facts.warnings }),
  ...(state.facts?.data === undefined ? {} : { data: state.facts.data }),
  ...(isRunning(state) ? { expectedSeconds: tenths(expectedOf(state)) } : {}),
  ...(state.progress === undefined ? {} : { progress: progressObject(state.progress) }),
  ...(state.failure === undefined ? {} : { failure: failureObject(state.failure) }),
  ...(state.skippedBecause === undefined ? {} : { skippedBecause: state.skippedBecause }),
})

export const runObject = (
  run: RunRecord,
  state: RunState,
  { now, mayResume }: { readonly now: Date; readonly mayResume: boolean },
): typeof RunObject.Type => {
  const progress = progressOf(state, now)
  const { remainingSeconds, fromEarlierRuns: _, late: __, ...counts } = progress
  const remaining = remainingText(progress, state)
  const waiting = waitingFor(state)
  const waits = groupBy(state.waited, ({ key }) => key)
  const critical = criticalPathOf(state, now)
  const expectedOf = expectedSecondsIn(state)
  return {
    ...runSummary(run),
    status: state.status,
    ...when("endedAt", state.endedAt),
    message: state.message,
    ...(waiting === undefined ? {} : { waiting }),
    ...waitObjects(waits.get(undefined)),
    cancelRequested: state.cancelRequested,
    ...(state.notified.size === 0
      ? {}
      : { notified: [...state.notified].map(([to, because]) => (because === undefined ? { to } : { to, because })) }),
    mayResume,
    lastEventID: state.lastSeq,
    progress: {
      ...counts,
      ...(remainingSeconds === undefined ? {} : { remainingSeconds }),
      ...(remaining === undefined ? {} : { remaining }),
    },
    ...(state.plan === undefined ? {} : { estimateSeconds: tenths(state.plan.criticalPathSeconds) }),
    notes: state.plan?.notes ?? [],
    steps: [...state.steps.values()].map((step) =>
      runStep(step, waits.get(step.step.key), critical.has(step.step.key), expectedOf),
    ),
  }
}
