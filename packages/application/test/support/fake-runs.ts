import {
  type Fault,
  foldRun,
  type JournalEntry,
  type Json,
  type Plan,
  type RangeId,
  type RangeState,
  type RunEvent,
  type RunHead,
  type RunId,
  RunNotFound,
  type Step,
  subjectKey,
  type UserId,
  wholeDeploy,
} from "@rangewright/domain"
import {
  handlerServicesLayer,
  rangeEngineLayer,
  runKinds,
  RunPlanner,
  runPlannerLayer,
  type RunRequest,
} from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import { RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { restoreRequest } from "../../src/run/request.ts"

/** What becomes of a run: it ends at once, or goes on for ever. */
export type Ending = { readonly status: "success" | "failure" | "aborted"; readonly message?: string } | "running" | "waiting"

/** Runs that a test scripts: what is asked for, and what becomes of it. */
export interface FakeRuns {
  readonly asked: { readonly request: RunRequest; readonly by: UserId }[]
  plan: (request: RunRequest) => Plan
  ending: (request: RunRequest) => Ending
  /** Whose a subject is, by its key; others are whose their kind says. */
  readonly owners: Map<string, UserId>
  /** What the run does to the world before it ends. */
  effect: (request: RunRequest) => Effect.Effect<void, Fault>
}

const emptyPlan = (rangeId: RangeId): Plan => ({
  rangeId,
  steps: [],
  changes: [],
  placements: [],
  allocations: [],
  notes: [],
  criticalPathSeconds: 0,
})

export const stepOf = (key: string, action: Step["action"]): Step => ({
  key,
  title: `Do ${key}`,
  tag: undefined,
  machine: undefined,
  action,
  after: [],
  uses: [],
  estimate: 1,
})

export const fakeRuns = (rangeId: string): FakeRuns => ({
  asked: [],
  owners: new Map(),
  plan: () => emptyPlan(rangeId as RangeId),
  ending: () => ({ status: "success" }),
  effect: () => Effect.void,
})

const failureOf = (message: string): RunEvent => ({
  type: "StepFailed",
  key: "work",
  failure: { tag: "HypervisorFault", kind: "unavailable", message },
  final: true,
})

/** The engine itself, for runs about something else than a range. */
const working = Layer.provide(rangeEngineLayer({ owner: "test" }, runKinds), runPlannerLayer)

const scriptedPlans = (runs: FakeRuns) =>
  Layer.succeed(RunPlanner, {
    plan: (_range, request) => Effect.sync(() => runs.plan(request)),
    drift: () =>
      Effect.sync(() => {
        const { changes, kept = [], notes } = runs.plan({ kind: "deploy", options: { ...wholeDeploy, verbose: false } })
        const differences = changes.filter(({ kind }) => kind !== "none")
        return { inSync: differences.length === 0, differences, kept, notes }
      }),
  })

/**
 * A `RunEngine` whose runs of ranges are scripted, over a real journal: they are opened, journaled and closed as the engine does, at once.
 * All other runs are the engine's own.
 */
export const fakeRunsLayer = (runs: FakeRuns) =>
  Layer.effect(
    RunEngine,
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const ended = new Map<RunId, readonly JournalEntry[]>()
      const journal = yield* RunJournal
      /** What the engine does with a run that is not scripted, else what the script does. */
      const chosen = <A>(runId: RunId, worked: Effect.Effect<A, Fault>, scripted: Effect.Effect<A, Fault>) =>
        Effect.flatMap(journal.find(runId), (run) => (run === undefined || run.subject.type === "range" ? scripted : worked))
      const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
      const state = (runId: RunId) => Effect.map(journal.read(runId, 0), foldRun)
      const endState = (request: RunRequest, ending: Exclude<Ending, string>): RangeState | undefined =>
        request.kind === "deploy" ? (ending.status === "success" ? "SUCCESS" : "ERROR") : undefined
      return RunEngine.of({
        start: (asked, by) =>
          Effect.gen(function* () {
            const request = restoreRequest(asked.options)
            if (request === undefined) return yield* engine.start(asked, by)
            const at = yield* now
            const head: RunHead = {
              id: `run${String(runs.asked.length).padStart(12, "0")}` as RunId,
              kind: request.kind,
              subject: asked.subject,
              by,
              options: { kind: request.kind } satisfies Json,
              startedAt: at,
            }
            const record = yield* journal.open(head, request.kind === "deploy" ? "DEPLOYING" : undefined)
            runs.asked.push({ request, by })
            const generation = (yield* journal.claim(head.id, "test", 60)) ?? 0
            const ending = runs.ending(request)
            const plan = runs.plan(request)
            yield* journal.append(head.id, generation, [{ type: "Planned", plan }], at)
            const started = { ...record, plan }
            if (ending === "running") return started
            if (ending === "waiting") {
              yield* journal.append(head.id, generation, [{ type: "Waiting", reason: "node1 does not answer" }], at)
              return started
            }
            yield* runs.effect(request)
            const message = ending.message ?? ""
            const end = { type: "Ended", status: ending.status, message } as const
            if (ending.status === "failure") yield* journal.append(head.id, generation, [failureOf(message)], at)
            // kept: a range that is removed takes its journal along
            const entries = yield* journal.read(head.id, 0)
            ended.set(head.id, [...entries, { seq: entries.length + 1, at, event: end }])
            yield* journal.close(head.id, generation, end, endState(request, ending), at)
            return started
          }),
        wait: (runId) =>
          chosen(
            runId,
            engine.wait(runId),
            Effect.suspend(() => {
              const entries = ended.get(runId)
              if (entries !== undefined) return Effect.succeed(foldRun(entries))
              return Effect.flatMap(journal.find(runId), (run) =>
                run === undefined ? Effect.fail(new RunNotFound({ runId })) : Effect.never,
              )
            }),
          ),
        cancel: (runId, by) =>
          chosen(
            runId,
            engine.cancel(runId, by),
            Effect.gen(function* () {
              const run = yield* journal.find(runId)
              if (run?.cancelRequested === true) return true
              return yield* journal.requestCancel(
                runId,
                run?.lastSeq ?? 0,
                { type: "CancelRequested", by },
                yield* now,
                "ABORTED",
              )
            }),
          ),
        resume: (runId, by) =>
          chosen(
            runId,
            engine.resume(runId, by),
            Effect.gen(function* () {
              const head = yield* journal.find(runId)
              return { ...(head ?? (yield* new RunNotFound({ runId }))), id: "resumed00000000" as RunId, by }
            }),
          ),
        owner: (run) => {
          const said = runs.owners.get(subjectKey(run.subject))
          return said === undefined ? engine.owner(run) : Effect.succeed(said)
        },
        state,
        events: (runId, afterSeq) =>
          Stream.unwrap(
            chosen(
              runId,
              Effect.succeed(engine.events(runId, afterSeq)),
              Effect.map(journal.read(runId, 0), (entries) =>
                Stream.fromIterable((ended.get(runId) ?? entries).filter(({ seq }) => seq > afterSeq)),
              ),
            ),
          ),
        recover: engine.recover,
      })
    }),
  ).pipe(Layer.provide(working), Layer.merge(scriptedPlans(runs)), (engine) => Layer.provideMerge(handlerServicesLayer, engine))
