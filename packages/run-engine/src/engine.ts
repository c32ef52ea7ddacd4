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
import { type FencedPorts, fencedServices } from "./worker/lease.ts"
import { RunEngine, type StartedRun } from "./run-engine.ts"
import { journalPage } from "./journal/journal-writer.ts"
import { bindKind, type RunKind, type ServicesOfKind, type WorkRequest } from "./kind/run-kind.ts"
import { makeSignals } from "./journal/signals.ts"
import { makeSlots } from "./schedule/slots.ts"
import { executeRun, type WorkerContext } from "./worker/worker.ts"
import { makeHypervisorProbe } from "./retry/hypervisor-probe.ts"

export interface RunEngineOptions {
  /**
   * Names this process among those that share the store. A process that restarts under the same name continues its runs at once; others
   * wait for the leases to end. Two living processes must not share a name.
   */
  readonly owner: string
  /** How long a lease lasts without a renewal. Default 30. */
  readonly leaseSeconds?: number
  /**
   * Minimum time from the start of a deploy to its end, unless it is aborted: clients that poll a range wait until they have seen it
   * deploying, even where there was nothing to do. Default 0.
   */
  readonly shownSeconds?: number
  /** Finished runs to keep, for each kind and subject. Default 100. */
  readonly runsKept?: number
  /** The ports that a worker calls only while its lease is in force. */
  readonly fenced: FencedPorts
}

/** Number of final states kept of runs whose journals were deleted with their range. */
const removedRunsKept = 200

/** Whether the fault comes from the current state of the hypervisor and not from the request: planning may succeed later. */
const isEnvironmental = (fault: Fault): boolean => fault.kind === "precondition" || retryOf(fault) !== "never"

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
  // all leases use this clock, whatever clock the caller of an operation has
  const clock = yield* Clock.Clock
  const services = fencedServices(yield* Effect.context<Effect.Services<ReturnType<typeof executeRun>>>(), fenced)
  const kinds: ReadonlyMap<string, RunKind> = new Map(known.map((kind) => [kind.name, kind]))
  const signals = makeSignals()
  /** Runs that this process executes or is claiming: `recover` skips them. */
  const activeRuns = new Set<RunId>()
  /** Runs that this process is opening: `recover` skips them too. */
  const opening = new Set<RunId>()
  /** Runs that only a newer version can continue: this process never claims them again. */
  const newer = new Set<RunId>()
  const removesSubject = (kind: string): boolean => kinds.get(kind)?.removesSubject === true
  const removed = new Map<RunId, { readonly head: RunHead; readonly state: RunState }>()
  const context: WorkerContext = {
    slots: yield* makeSlots(leaseSeconds),
    signals,
    probe: yield* makeHypervisorProbe,
    leaseSeconds,
    shownSeconds,
    runsKept,
    journals: new Map(),
    onNewer: (runId) => newer.add(runId),
    onRemoved: (head, state) => {
      removed.set(head.id, { head, state })
      const [oldest] = removed.keys()
      if (removed.size > removedRunsKept && oldest !== undefined) removed.delete(oldest)
    },
  }

  /** Claims a run and starts a worker on it. False when this process already has it, cannot continue it, or another holds its lease. */
  const claimRun = (head: RunRecord, plan: Plan | undefined): Effect.Effect<boolean, StorageFault> =>
    Effect.gen(function* () {
      if (activeRuns.has(head.id) || newer.has(head.id)) return false
      const kind = kinds.get(head.kind)
      if (kind === undefined) {
        newer.add(head.id)
        yield* Effect.logWarning(
          `This version of the service knows no runs of the kind ${head.kind}; run ${head.id} is left to an instance that does`,
        )
        return false
      }
      activeRuns.add(head.id)
      const release = Effect.sync(() => activeRuns.delete(head.id))
      const since = yield* monotonicMillis
      const generation = yield* Effect.onError(journal.claim(head.id, owner, leaseSeconds), () => release)
      if (generation === undefined) return yield* Effect.as(release, false)
      yield* executeRun(context, kind, head, { generation, since }, plan).pipe(
        Effect.ensuring(release),
        Effect.provideContext(services),
        // what a run does after its operation was answered belongs in its journal
        Effect.provideService(CurrentAudit, undefined),
        Effect.interruptible,
        Effect.forkIn(scope),
      )
      return true
    }).pipe(Effect.provideService(Clock.Clock, clock), Effect.uninterruptible)

  /** The fault for a request whose subject has an unfinished run. */
  const busyFault = ({ id, subject, kind, cancelRequested }: RunRecord): RangeBusy | SubjectBusy => {
    const doing = kinds.get(kind)?.doing ?? kind
    return subject.type === "range"
      ? new RangeBusy({ rangeId: subject.id, runId: id, doing, cancelled: cancelRequested })
      : new SubjectBusy({ subject, runId: id, doing, cancelled: cancelRequested })
  }

  /** An aborted run that still settles: the next run of its range may open, and waits for its end. */
  const givesWay = ({ subject, cancelRequested }: RunRecord): boolean => subject.type === "range" && cancelRequested

  /**
   * Fingerprint of what a plan is based on: the newest other run of the subject and of the installation, their statuses, and what the kind
   * adds (the version of a range's configuration). When it changes, the plan is made again.
   */
  const planningBasis = Effect.fnUntraced(function* (kind: RunKind, subject: RunSubject, runId?: RunId) {
    const all = yield* Effect.forEach(subject.type === "range" ? [subject, installation] : [subject], (one) =>
      journal.list({ subject: one, limit: 2 }),
    )
    const runs = all.map((some) => some.find(({ id }) => id !== runId)).map((run) => `${run?.id} ${run?.status}`)
    return [...runs, yield* kind.basis?.(subject) ?? Effect.succeed("")].join()
  })

  /** The plan for the request. Undefined when planning fails while an earlier run may still change the world: the worker plans later. */
  const planBeforeOpening = Effect.fnUntraced(function* (
    kind: RunKind,
    draft: RunHead,
  ): Effect.fn.Return<Plan | undefined, Fault> {
    const ahead = [installation, draft.subject].map(subjectKey)
    const waits =
      draft.subject.type === "range" && (yield* journal.recoverable).some(({ subject }) => ahead.includes(subjectKey(subject)))
    return yield* kind.plan(draft, false).pipe(
      Effect.catchIf(
        (fault) => waits && isEnvironmental(fault),
        () => Effect.succeed(undefined),
      ),
    )
  })

  /** Plans and opens a run, and starts its worker. */
  const open = Effect.fnUntraced(function* (kind: RunKind, asked: WorkRequest, by: UserId): Effect.fn.Return<StartedRun, Fault> {
    const basis = yield* planningBasis(kind, asked.subject)
    const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
    const draft: RunHead = { id: yield* newRunId, ...asked, by, startedAt: yield* now }
    const plan = yield* planBeforeOpening(kind, draft)
    const head = { ...draft, startedAt: yield* now }
    return yield* Effect.gen(function* () {
      opening.add(head.id)
      const record = yield* journal.open(head, kind.rangeState?.during, yield* kind.systemLimits ?? Effect.undefined)
      // another run started or ended meanwhile: the worker plans again, now that no other run can open
      const holds = yield* planningBasis(kind, head.subject, head.id).pipe(
        Effect.map((later) => record.blockedBy === undefined && later === basis),
        Effect.orElseSucceed(() => false),
      )
      const first = holds ? plan : undefined
      yield* claimRun(record, first).pipe(
        // the run is open and durable: the next `recover` claims it
        Effect.catch((fault) => Effect.logWarning(fault.message)),
      )
      return { ...record, plan: first }
    }).pipe(Effect.ensuring(Effect.sync(() => opening.delete(head.id))), Effect.uninterruptible)
  })

  const start = Effect.fnUntraced(function* (asked: WorkRequest, by: UserId): Effect.fn.Return<StartedRun, Fault> {
    const kind = kinds.get(asked.kind)
    if (kind === undefined) return yield* Effect.die(new Error(`the engine was given no runs of the kind ${asked.kind}`))
    const joinOrRefuse = (run: RunRecord): Effect.Effect<StartedRun, Fault> =>
      run.kind === kind.name && kind.whenBusy === "join"
        ? Effect.succeed({ ...run, plan: undefined })
        : Effect.fail(busyFault(run))
    const running = yield* journal.active(asked.subject)
    if (running !== undefined && !givesWay(running)) return yield* joinOrRefuse(running)
    return yield* open(kind, asked, by).pipe(
      // another run opened first
      Effect.catchIf(
        (fault) => fault instanceof SubjectTaken,
        ({ facts }) => joinOrRefuse(facts.run),
      ),
    )
  })

  const findHead = Effect.fnUntraced(function* (runId: RunId): Effect.fn.Return<RunHead, RunNotFound | StorageFault> {
    const record = (yield* journal.find(runId)) ?? removed.get(runId)?.head
    return record ?? (yield* new RunNotFound({ runId }))
  })

  /** Feeds the rest of the journal to the fold. */
  const readToEnd = Effect.fnUntraced(function* (runId: RunId, fold: RunFold): Effect.fn.Return<RunState, Fault> {
    for (;;) {
      const page = yield* journal.read(runId, fold.state().lastSeq, journalPage)
      for (const entry of page) fold.push(entry)
      if (page.length < journalPage) return fold.state()
    }
  })

  const state = Effect.fnUntraced(function* (runId: RunId): Effect.fn.Return<RunState, Fault> {
    yield* findHead(runId)
    const read = yield* readToEnd(runId, openFold())
    return removed.get(runId)?.state ?? read
  })

  /** Cancels the run. False when it is over; refused past a point of no return. */
  const requestCancel = Effect.fnUntraced(function* (head: RunHead, by: UserId): Effect.fn.Return<boolean, Fault> {
    const aborted = kinds.get(head.kind)?.rangeState === undefined ? undefined : ("ABORTED" as const)
    const fold = openFold()
    for (;;) {
      const now = yield* readToEnd(head.id, fold)
      if (now.status !== "running") return false
      if (now.cancelRequested) return true
      if (!isCancellable(now))
        return yield* new Conflict({
          what: `Cannot cancel run ${head.id}: it has passed the point of no return: stopping halfway would be worse than finishing`,
          hint: `Wait until it ends (GET /runs/${head.id}). While it waits for something unreachable it can be cancelled.`,
        })
      const at = new Date(yield* Clock.currentTimeMillis)
      if (yield* journal.requestCancel(head.id, now.lastSeq, { type: "CancelRequested", by }, at, aborted)) return true
      // the journal has grown: look again
      if ((yield* journal.find(head.id))?.status !== "running") return false
    }
  })

  const events = (runId: RunId, afterSeq: number) => followRun(journal, signals, removed, removesSubject, runId, afterSeq)

  const resumption = Effect.fnUntraced(function* (runId: RunId): Effect.fn.Return<WorkRequest, Fault> {
    const record = yield* journal.find(runId)
    if (record === undefined) return yield* new RunNotFound({ runId })
    if (record.status === "running" && !givesWay(record)) return yield* busyFault(record)
    const kind = kinds.get(record.kind)
    const why = record.status === "success" ? "it succeeded" : kind === undefined ? "its kind is not known" : undefined
    if (why !== undefined) return yield* new Conflict({ what: `Cannot resume run ${runId}: ${why}`, hint: "Start a new run." })
    return { kind: record.kind, subject: record.subject, options: kind?.resumed?.(record.options) ?? record.options }
  })

  return RunEngine.of({
    start,
    wait: Effect.fnUntraced(function* (runId) {
      yield* findHead(runId)
      const fold = openFold()
      yield* Stream.runForEach(events(runId, 0), (entry) => Effect.sync(() => fold.push(entry)))
      return removed.get(runId)?.state ?? fold.state()
    }),
    cancel: Effect.fnUntraced(function* (runId, by) {
      const taken = yield* requestCancel(yield* findHead(runId), by)
      signals.notify(runId)
      yield* context.journals.get(runId)?.refresh ?? Effect.void
      return taken
    }),
    resumption,
    resume: (runId, by) => Effect.flatMap(resumption(runId), (asked) => start(asked, by)),
    owner: ({ kind, subject }) => kinds.get(kind)?.owner(subject) ?? Effect.succeed(undefined),
    state,
    events,
    recover: Effect.gen(function* () {
      const unfinished = yield* journal.recoverable
      const there = new Set(unfinished.map(({ id }) => id))
      for (const id of newer) if (!there.has(id)) newer.delete(id)
      const tries = yield* Effect.forEach(
        unfinished.filter(({ id }) => !opening.has(id)),
        (head) => Effect.result(claimRun(head, undefined)),
      )
      const failed = tries.find(Result.isFailure)
      if (failed !== undefined) return yield* Effect.fail(failed.failure)
      return tries.filter((taken) => Result.isSuccess(taken) && taken.success).length
    }),
  })
})

/**
 * The run engine for these kinds. Its workers live in the layer's scope: closing it stops them between two journal entries and releases
 * their leases. The next process on the same store continues their runs (`recover`).
 */
export const runEngineLayer = <const K extends readonly RunKind<unknown>[]>(options: RunEngineOptions, kinds: K) =>
  Layer.effect(
    RunEngine,
    Effect.gen(function* () {
      type Needs = ServicesOfKind<K[number]>
      const services = fencedServices(yield* Effect.context<Needs>(), options.fenced)
      // each kind needs a subset of all these services
      return yield* makeEngine(
        options,
        kinds.map((kind) => bindKind(kind as RunKind<Needs>, services)),
      )
    }),
  )
