import {
  Conflict,
  type Fault,
  type FaultKind,
  foldRun,
  installation,
  isCancellable,
  type JournalEntry,
  openFold,
  type Plan,
  RangeBusy,
  rangeStateDuring,
  rangeSubject,
  type RunHead,
  type RunId,
  RunNotFound,
  type RunState,
  type RunSubject,
  SubjectBusy,
  type UserId,
} from "@rangewright/domain"
import { Lease, Ranges, RunJournal, type RunRecord, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { followRun } from "./follow.ts"
import { RunPlanner } from "./planner.ts"
import { rangeKinds } from "./range-kinds.ts"
import { storeRequest } from "./request.ts"
import { RunEngine, type StartedRun } from "./run-engine.ts"
import { journalPage } from "./run-book.ts"
import { bindKind, type RunKind, type ServicesOfKind, type WorkRequest } from "./run-kind.ts"
import { makeSignals } from "./signals.ts"
import { makeSlots } from "./slots.ts"
import { workOn, type Workshop } from "./worker.ts"
import { makeWorldGate } from "./world-gate.ts"

export interface RunEngineOptions {
  /**
   * Names this process among those that share the store. One that comes back under the same name takes its runs up at once; another
   * waits for the leases to end. Two living processes must not share a name.
   */
  readonly owner: string
  /** How long a run stays with a worker that does not answer. Default 30. */
  readonly leaseSeconds?: number
  /**
   * A deploy ends no sooner than so long after it opened, unless it is aborted: clients that look at its range now and then wait until they have
   * seen it at work, also where there was nothing to do. Default 0.
   */
  readonly deployShownSeconds?: number
}

/** Runs gone with their range whose end is still told. */
const removedRunsKept = 200

/** Kinds of faults that tell of the world as it is now, and not of what was asked for. */
const ofTheWorld: ReadonlySet<FaultKind> = new Set(["precondition", "unavailable", "timeout"])

const runIdAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

const newRunId = Effect.gen(function* () {
  let id = ""
  for (let i = 0; i < 15; i++)
    id += runIdAlphabet[yield* Random.nextIntBetween(0, runIdAlphabet.length, { halfOpen: true })] ?? ""
  return id as RunId
})

const makeEngine = Effect.fnUntraced(function* (
  { owner, leaseSeconds = 30, deployShownSeconds = 0 }: RunEngineOptions,
  others: readonly RunKind[],
) {
  const journal = yield* RunJournal
  const lease = yield* Lease
  const planner = yield* RunPlanner
  const stored = yield* Ranges
  const scope = yield* Effect.scope
  const services = yield* Effect.context<Effect.Services<ReturnType<typeof workOn>>>()
  const ranges = yield* Effect.context<ServicesOfKind<(typeof rangeKinds)[number]>>()
  const kinds: ReadonlyMap<string, RunKind> = new Map(
    [...rangeKinds.map((kind) => bindKind(kind, ranges)), ...others].map((kind) => [kind.name, kind]),
  )
  const signals = makeSignals()
  /** Runs that this process works on, and those that it is about to: nobody looking for unfinished runs may take these. */
  const inHand = new Set<RunId>()
  const opening = new Set<RunId>()
  const removed = new Map<RunId, { readonly head: RunHead; readonly state: RunState }>()
  const workshop: Workshop = {
    slots: makeSlots(),
    signals,
    gate: yield* makeWorldGate,
    leaseSeconds,
    deployShownSeconds,
    books: new Map(),
    onRemoved: (head, state) => {
      removed.set(head.id, { head, state })
      const [oldest] = removed.keys()
      if (removed.size > removedRunsKept && oldest !== undefined) removed.delete(oldest)
    },
  }

  /** Takes a run up, unless this process has it in hand or another's lease is in force; true when it did. */
  const takeUp = (head: RunRecord, plan: Plan | undefined): Effect.Effect<boolean, StorageFault> =>
    Effect.gen(function* () {
      if (inHand.has(head.id)) return false
      inHand.add(head.id)
      const letGo = Effect.sync(() => inHand.delete(head.id))
      const now = new Date(yield* Clock.currentTimeMillis)
      const generation = yield* Effect.onError(lease.claim(head.id, owner, now, leaseSeconds), () => letGo)
      if (generation === undefined) return yield* Effect.as(letGo, false)
      yield* workOn(workshop, kinds.get(head.kind), head, generation, plan).pipe(
        Effect.ensuring(letGo),
        Effect.provideContext(services),
        Effect.interruptible,
        Effect.forkIn(scope),
      )
      return true
    }).pipe(Effect.uninterruptible)

  const busy = ({ id, subject, kind, cancelRequested }: RunRecord): RangeBusy | SubjectBusy => {
    const doing = kinds.get(kind)?.doing ?? kind
    return subject.type === "range"
      ? new RangeBusy({ rangeId: subject.id, runId: id, doing, cancelled: cancelRequested })
      : new SubjectBusy({ subject, runId: id, doing, cancelled: cancelRequested })
  }

  /** A run that was aborted and settles what it had begun: another one of its range may open, and waits for its end. */
  const givesWay = ({ subject, cancelRequested }: RunRecord): boolean => subject.type === "range" && cancelRequested

  /**
   * The newest run that changes a subject, or all of them, and whether it goes on, the run itself left out; and which configuration a range
   * has. A plan rests on these.
   */
  const groundOf = Effect.fnUntraced(function* (subject: RunSubject, runId?: RunId) {
    const all = yield* Effect.forEach(subject.type === "range" ? [subject, installation] : [subject], (one) =>
      journal.list({ subject: one, limit: 2 }),
    )
    const runs = all.map((some) => some.find(({ id }) => id !== runId)).map((run) => `${run?.id} ${run?.status}`)
    const config = subject.type === "range" ? yield* stored.config(subject.id) : undefined
    return [...runs, config?.updatedAt.getTime()].join()
  })

  /** The plan of what is asked for; undefined where a run that it waits for stands in its way, which may be over when its turn comes. */
  const planNow = Effect.fnUntraced(function* (kind: RunKind, draft: RunHead): Effect.fn.Return<Plan | undefined, Fault> {
    const over =
      draft.subject.type === "range"
        ? ((yield* journal.active(installation)) ?? (yield* journal.active(draft.subject)))
        : undefined
    return yield* kind.plan(draft, false).pipe(
      Effect.catchIf(
        (fault) => over !== undefined && ofTheWorld.has(fault.kind),
        () => Effect.succeed(undefined),
      ),
    )
  })

  /** Plans and opens a run, and puts a worker on it. */
  const open = Effect.fnUntraced(function* (kind: RunKind, asked: WorkRequest, by: UserId): Effect.fn.Return<StartedRun, Fault> {
    const ground = yield* groundOf(asked.subject)
    const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
    const draft: RunHead = { id: yield* newRunId, ...asked, by, startedAt: yield* now }
    const plan = yield* planNow(kind, draft)
    const head = { ...draft, startedAt: yield* now }
    return yield* Effect.gen(function* () {
      opening.add(head.id)
      const record = yield* journal.open(head, rangeStateDuring(head.kind))
      // another run that came or went since we looked makes the plan a guess: then the worker plans again, now that nobody can come
      const holds = yield* groundOf(head.subject, head.id).pipe(
        Effect.map((later) => record.behind === undefined && later === ground),
        Effect.orElseSucceed(() => false),
      )
      const first = holds ? plan : undefined
      yield* takeUp(record, first).pipe(
        // the run is open and durable: whoever looks for unfinished runs next takes it up
        Effect.catch((fault) => Effect.logWarning(fault.message)),
      )
      return { ...record, plan: first }
    }).pipe(Effect.ensuring(Effect.sync(() => opening.delete(head.id))), Effect.uninterruptible)
  })

  const startWork = Effect.fnUntraced(function* (asked: WorkRequest, by: UserId): Effect.fn.Return<StartedRun, Fault> {
    const kind = kinds.get(asked.kind)
    if (kind === undefined) return yield* Effect.die(new Error(`the engine was given no runs of the kind ${asked.kind}`))
    const joins = ({ kind: running }: RunRecord): boolean => running === kind.name && kind.whenBusy === "join"
    const running = yield* journal.active(asked.subject)
    if (running !== undefined && !givesWay(running))
      return joins(running) ? { ...running, plan: undefined } : yield* busy(running)
    return yield* open(kind, asked, by).pipe(
      // somebody else was first
      Effect.catchIf(
        (fault) => fault instanceof SubjectBusy,
        (fault) =>
          Effect.flatMap(journal.active(asked.subject), (other) =>
            other !== undefined && joins(other) ? Effect.succeed({ ...other, plan: undefined }) : Effect.fail(fault),
          ),
      ),
    )
  })

  const found = Effect.fnUntraced(function* (runId: RunId): Effect.fn.Return<RunHead, RunNotFound | StorageFault> {
    const record = (yield* journal.find(runId)) ?? removed.get(runId)?.head
    return record ?? (yield* new RunNotFound({ runId }))
  })

  const state = Effect.fnUntraced(function* (runId: RunId): Effect.fn.Return<RunState, RunNotFound | StorageFault> {
    yield* found(runId)
    const entries: JournalEntry[] = []
    for (;;) {
      const page = yield* journal.read(runId, entries.at(-1)?.seq ?? 0, journalPage)
      entries.push(...page)
      if (page.length < journalPage) break
    }
    return removed.get(runId)?.state ?? foldRun(entries)
  })

  /** Fails when the run is past a point of no return, and no cancel came before that. */
  const requireCancellable = Effect.fnUntraced(function* (
    runId: RunId,
  ): Effect.fn.Return<void, Conflict | RunNotFound | StorageFault> {
    const now = yield* state(runId)
    if (now.status !== "running" || now.cancelRequested || isCancellable(now)) return
    return yield* new Conflict({
      what: `Cannot cancel run ${runId}: it is past the point from which it only goes forward, and half of it would be worse than either end`,
      hint: `Wait for its end (GET /runs/${runId}). While it waits for something that is away it can be cancelled.`,
    })
  })

  const events = (runId: RunId, afterSeq: number) => followRun(journal, signals, removed, runId, afterSeq)

  return RunEngine.of({
    preview: (range, request, by) => planner.plan(range, request, by, "preview"),
    drift: planner.drift,
    start: (range, request, by) =>
      startWork({ kind: request.kind, subject: rangeSubject(range.id), options: storeRequest(request) }, by),
    startWork,
    wait: Effect.fnUntraced(function* (runId) {
      yield* found(runId)
      const fold = openFold()
      yield* Stream.runForEach(events(runId, 0), (entry) => Effect.sync(() => fold.push(entry)))
      return removed.get(runId)?.state ?? fold.state()
    }),
    cancel: Effect.fnUntraced(function* (runId, by) {
      const { kind } = yield* found(runId)
      yield* requireCancellable(runId)
      const at = new Date(yield* Clock.currentTimeMillis)
      const aborted = rangeStateDuring(kind) === undefined ? undefined : ("ABORTED" as const)
      const asked = yield* journal.requestCancel(runId, { type: "CancelRequested", by }, at, aborted)
      signals.notify(runId)
      yield* workshop.books.get(runId)?.refresh ?? Effect.void
      // the point of no return may have come first
      if (asked) yield* requireCancellable(runId)
      return asked
    }),
    resume: Effect.fnUntraced(function* (runId, by) {
      const record = yield* journal.find(runId)
      if (record === undefined) return yield* new RunNotFound({ runId })
      if (record.status === "running" && !givesWay(record)) return yield* busy(record)
      const why = record.status === "success" ? "it succeeded" : kinds.has(record.kind) ? undefined : "its kind is not known"
      if (why !== undefined) return yield* new Conflict({ what: `Cannot resume run ${runId}: ${why}`, hint: "Start a new run." })
      return yield* startWork({ kind: record.kind, subject: record.subject, options: record.options }, by)
    }),
    owner: ({ kind, subject }) => kinds.get(kind)?.owner(subject) ?? Effect.succeed(undefined),
    state,
    events,
    recover: Effect.gen(function* () {
      const unfinished = yield* journal.unfinished
      const taken = yield* Effect.forEach(
        unfinished.filter(({ id }) => !opening.has(id)),
        (head) => takeUp(head, undefined),
      )
      return taken.filter(Boolean).length
    }),
  })
})

/**
 * The run engine, for runs of ranges and of the other kinds that it is given. Its workers live in the layer's scope: closing it stops them
 * between two journal entries and gives their leases back, and whoever opens the same store next goes on with their runs (`recover`).
 */
export const runEngineLayer = <const K extends readonly RunKind<unknown>[] = readonly []>(options: RunEngineOptions, kinds?: K) =>
  Layer.effect(
    RunEngine,
    Effect.gen(function* () {
      type Needs = ServicesOfKind<K[number]>
      const services = yield* Effect.context<Needs>()
      // the services of each kind are among those of them all
      const others = (kinds ?? []).map((kind) => bindKind(kind as RunKind<Needs>, services))
      return yield* makeEngine(options, others)
    }),
  )
