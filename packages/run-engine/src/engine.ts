import {
  Conflict,
  type Fault,
  installation,
  isCancellable,
  openFold,
  type Plan,
  RangeBusy,
  type RunFold,
  type RunHead,
  type RunId,
  RunNotFound,
  type RunState,
  type RunSubject,
  SubjectBusy,
  subjectKey,
  type UserId,
} from "@rangewright/domain"
import {
  CurrentAudit,
  monotonicMillis,
  retryOf,
  RunJournal,
  type RunRecord,
  type StorageFault,
  SubjectTaken,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { followRun } from "./journal/follow.ts"
import { type FencedPorts, heldServices } from "./worker/hold.ts"
import { RunEngine, type StartedRun } from "./run-engine.ts"
import { journalPage } from "./journal/run-book.ts"
import { bindKind, type RunKind, type ServicesOfKind, type WorkRequest } from "./kind/run-kind.ts"
import { makeSignals } from "./journal/signals.ts"
import { makeSlots } from "./schedule/slots.ts"
import { workOn, type Workshop } from "./worker/worker.ts"
import { makeWorldGate } from "./retry/world-gate.ts"

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
  readonly shownSeconds?: number
  /** So many finished runs of each kind are kept for each subject. Default 100. */
  readonly runsKept?: number
  /** The ports whose calls wait, in a worker, until its lease is surely in force. */
  readonly fenced: FencedPorts
}

/** Runs gone with their range whose end is still told. */
const removedRunsKept = 200

/** Whether the fault comes from the world as it is now, and not from what was asked for: then a plan may succeed later. */
const isOfNow = (fault: Fault): boolean => fault.kind === "precondition" || retryOf(fault) !== "never"

const runIdAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

const newRunId = Effect.gen(function* () {
  let id = ""
  for (let i = 0; i < 15; i++)
    id += runIdAlphabet[yield* Random.nextIntBetween(0, runIdAlphabet.length, { halfOpen: true })] ?? ""
  return id as RunId
})

const makeEngine = Effect.fnUntraced(function* (
  { owner, leaseSeconds = 30, shownSeconds = 0, runsKept = 100, fenced }: RunEngineOptions,
  known: readonly RunKind[],
) {
  const journal = yield* RunJournal
  const scope = yield* Effect.scope
  // one clock for all that judges leases, whichever the caller of an operation has
  const clock = yield* Clock.Clock
  const services = heldServices(yield* Effect.context<Effect.Services<ReturnType<typeof workOn>>>(), fenced)
  const kinds: ReadonlyMap<string, RunKind> = new Map(known.map((kind) => [kind.name, kind]))
  const signals = makeSignals()
  /** Runs that this process works on, and those that it is about to: nobody looking for unfinished runs may take these. */
  const inHand = new Set<RunId>()
  const opening = new Set<RunId>()
  /** Runs that only a newer version can continue: this process never takes them up again. */
  const newer = new Set<RunId>()
  const removesSubject = (kind: string): boolean => kinds.get(kind)?.removesSubject === true
  const removed = new Map<RunId, { readonly head: RunHead; readonly state: RunState }>()
  const workshop: Workshop = {
    slots: yield* makeSlots(leaseSeconds),
    signals,
    gate: yield* makeWorldGate,
    leaseSeconds,
    shownSeconds,
    runsKept,
    books: new Map(),
    onNewer: (runId) => newer.add(runId),
    onRemoved: (head, state) => {
      removed.set(head.id, { head, state })
      const [oldest] = removed.keys()
      if (removed.size > removedRunsKept && oldest !== undefined) removed.delete(oldest)
    },
  }

  /** Takes a run up, unless this process has it in hand or another's lease is in force; true when it did. */
  const takeUp = (head: RunRecord, plan: Plan | undefined): Effect.Effect<boolean, StorageFault> =>
    Effect.gen(function* () {
      if (inHand.has(head.id) || newer.has(head.id)) return false
      if (!kinds.has(head.kind)) {
        newer.add(head.id)
        yield* Effect.logWarning(
          `This version of the service knows no runs of the kind ${head.kind}; run ${head.id} is left to an instance that does`,
        )
        return false
      }
      inHand.add(head.id)
      const letGo = Effect.sync(() => inHand.delete(head.id))
      const since = yield* monotonicMillis
      const generation = yield* Effect.onError(journal.claim(head.id, owner, leaseSeconds), () => letGo)
      if (generation === undefined) return yield* Effect.as(letGo, false)
      yield* workOn(workshop, kinds.get(head.kind), head, { generation, since }, plan).pipe(
        Effect.ensuring(letGo),
        Effect.provideContext(services),
        // what a run does when its operation has been answered is told by its journal
        Effect.provideService(CurrentAudit, undefined),
        Effect.interruptible,
        Effect.forkIn(scope),
      )
      return true
    }).pipe(Effect.provideService(Clock.Clock, clock), Effect.uninterruptible)

  /** The only answer to a request that meets a run about its subject. */
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
  const groundOf = Effect.fnUntraced(function* (kind: RunKind, subject: RunSubject, runId?: RunId) {
    const all = yield* Effect.forEach(subject.type === "range" ? [subject, installation] : [subject], (one) =>
      journal.list({ subject: one, limit: 2 }),
    )
    const runs = all.map((some) => some.find(({ id }) => id !== runId)).map((run) => `${run?.id} ${run?.status}`)
    return [...runs, yield* kind.basis?.(subject) ?? Effect.succeed("")].join()
  })

  /** The plan of what is asked for; undefined where a run that it waits for stands in its way, which may be over when its turn comes. */
  const planNow = Effect.fnUntraced(function* (kind: RunKind, draft: RunHead): Effect.fn.Return<Plan | undefined, Fault> {
    const ahead = [installation, draft.subject].map(subjectKey)
    const waits =
      draft.subject.type === "range" && (yield* journal.recoverable).some(({ subject }) => ahead.includes(subjectKey(subject)))
    return yield* kind.plan(draft, false).pipe(
      Effect.catchIf(
        (fault) => waits && isOfNow(fault),
        () => Effect.succeed(undefined),
      ),
    )
  })

  /** Plans and opens a run, and puts a worker on it. */
  const open = Effect.fnUntraced(function* (kind: RunKind, asked: WorkRequest, by: UserId): Effect.fn.Return<StartedRun, Fault> {
    const ground = yield* groundOf(kind, asked.subject)
    const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
    const draft: RunHead = { id: yield* newRunId, ...asked, by, startedAt: yield* now }
    const plan = yield* planNow(kind, draft)
    const head = { ...draft, startedAt: yield* now }
    return yield* Effect.gen(function* () {
      opening.add(head.id)
      const record = yield* journal.open(head, kind.rangeState?.during)
      // another run that came or went since we looked makes the plan a guess: then the worker plans again, now that nobody can come
      const holds = yield* groundOf(kind, head.subject, head.id).pipe(
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

  const start = Effect.fnUntraced(function* (asked: WorkRequest, by: UserId): Effect.fn.Return<StartedRun, Fault> {
    const kind = kinds.get(asked.kind)
    if (kind === undefined) return yield* Effect.die(new Error(`the engine was given no runs of the kind ${asked.kind}`))
    const joinOrRefuse = (run: RunRecord): Effect.Effect<StartedRun, Fault> =>
      run.kind === kind.name && kind.whenBusy === "join" ? Effect.succeed({ ...run, plan: undefined }) : Effect.fail(busy(run))
    const running = yield* journal.active(asked.subject)
    if (running !== undefined && !givesWay(running)) return yield* joinOrRefuse(running)
    return yield* open(kind, asked, by).pipe(
      // somebody else was first
      Effect.catchIf(
        (fault) => fault instanceof SubjectTaken,
        ({ facts }) => joinOrRefuse(facts.run),
      ),
    )
  })

  const found = Effect.fnUntraced(function* (runId: RunId): Effect.fn.Return<RunHead, RunNotFound | StorageFault> {
    const record = (yield* journal.find(runId)) ?? removed.get(runId)?.head
    return record ?? (yield* new RunNotFound({ runId }))
  })

  /** Brings a fold to the end of the run's journal. */
  const readOn = Effect.fnUntraced(function* (runId: RunId, fold: RunFold): Effect.fn.Return<RunState, Fault> {
    for (;;) {
      const page = yield* journal.read(runId, fold.state().lastSeq, journalPage)
      for (const entry of page) fold.push(entry)
      if (page.length < journalPage) return fold.state()
    }
  })

  const state = Effect.fnUntraced(function* (runId: RunId): Effect.fn.Return<RunState, Fault> {
    yield* found(runId)
    const read = yield* readOn(runId, openFold())
    return removed.get(runId)?.state ?? read
  })

  /** Whether the run has taken a cancel: false when it is over. Refused past a point of no return. */
  const requestCancel = Effect.fnUntraced(function* (head: RunHead, by: UserId): Effect.fn.Return<boolean, Fault> {
    const aborted = kinds.get(head.kind)?.rangeState === undefined ? undefined : ("ABORTED" as const)
    const fold = openFold()
    for (;;) {
      const now = yield* readOn(head.id, fold)
      if (now.status !== "running") return false
      if (now.cancelRequested) return true
      if (!isCancellable(now))
        return yield* new Conflict({
          what: `Cannot cancel run ${head.id}: it has passed the point of no return, and stopping halfway would be worse than finishing`,
          hint: `Wait for its end (GET /runs/${head.id}). While it waits for something that is away it can be cancelled.`,
        })
      const at = new Date(yield* Clock.currentTimeMillis)
      if (yield* journal.requestCancel(head.id, now.lastSeq, { type: "CancelRequested", by }, at, aborted)) return true
      // its journal has grown: the answer may be another one now
      if ((yield* journal.find(head.id))?.status !== "running") return false
    }
  })

  const events = (runId: RunId, afterSeq: number) => followRun(journal, signals, removed, removesSubject, runId, afterSeq)

  return RunEngine.of({
    start,
    wait: Effect.fnUntraced(function* (runId) {
      yield* found(runId)
      const fold = openFold()
      yield* Stream.runForEach(events(runId, 0), (entry) => Effect.sync(() => fold.push(entry)))
      return removed.get(runId)?.state ?? fold.state()
    }),
    cancel: Effect.fnUntraced(function* (runId, by) {
      const taken = yield* requestCancel(yield* found(runId), by)
      signals.notify(runId)
      yield* workshop.books.get(runId)?.refresh ?? Effect.void
      return taken
    }),
    resume: Effect.fnUntraced(function* (runId, by) {
      const record = yield* journal.find(runId)
      if (record === undefined) return yield* new RunNotFound({ runId })
      if (record.status === "running" && !givesWay(record)) return yield* busy(record)
      const why = record.status === "success" ? "it succeeded" : kinds.has(record.kind) ? undefined : "its kind is not known"
      if (why !== undefined) return yield* new Conflict({ what: `Cannot resume run ${runId}: ${why}`, hint: "Start a new run." })
      return yield* start({ kind: record.kind, subject: record.subject, options: record.options }, by)
    }),
    owner: ({ kind, subject }) => kinds.get(kind)?.owner(subject) ?? Effect.succeed(undefined),
    state,
    events,
    recover: Effect.gen(function* () {
      const unfinished = yield* journal.recoverable
      const there = new Set(unfinished.map(({ id }) => id))
      for (const id of newer) if (!there.has(id)) newer.delete(id)
      const tries = yield* Effect.forEach(
        unfinished.filter(({ id }) => !opening.has(id)),
        (head) => Effect.result(takeUp(head, undefined)),
      )
      const failed = tries.find(Result.isFailure)
      if (failed !== undefined) return yield* Effect.fail(failed.failure)
      return tries.filter((taken) => Result.isSuccess(taken) && taken.success).length
    }),
  })
})

/**
 * The run engine, for runs of these kinds. Its workers live in the layer's scope: closing it stops them between two journal entries and gives
 * their leases back, and whoever opens the same store next continues their runs (`recover`).
 */
export const runEngineLayer = <const K extends readonly RunKind<unknown>[]>(options: RunEngineOptions, kinds: K) =>
  Layer.effect(
    RunEngine,
    Effect.gen(function* () {
      type Needs = ServicesOfKind<K[number]>
      const services = yield* Effect.context<Needs>()
      // the services of each kind are among those of them all
      return yield* makeEngine(
        options,
        kinds.map((kind) => bindKind(kind as RunKind<Needs>, services, options.fenced)),
      )
    }),
  )
