import {
  type Conclusion,
  concludeRun,
  isFault,
  type Plan,
  rangeStateAfter,
  rangeStateDuring,
  type RunHead,
  type RunId,
  type RunState,
  subjectKey,
} from "@rangewright/domain"
import { Lease, LeaseLost, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Settings } from "../settings.ts"
import { untilStored } from "./backoff.ts"
import { planRun } from "./plan-run.ts"
import { openBook, type RunBook } from "./run-book.ts"
import type { RunKind } from "./run-kind.ts"
import { runSteps } from "./schedule-run.ts"
import type { Signals } from "./signals.ts"
import type { Slots } from "./slots.ts"
import { makeStepRunner } from "./step.ts"
import { waitTurn } from "./wait-turn.ts"
import type { WorldGate } from "./world-gate.ts"

/** What all workers of a process share. */
export interface Workshop {
  readonly slots: Slots
  readonly signals: Signals
  readonly gate: WorldGate
  readonly leaseSeconds: number
  readonly deployShownSeconds: number
  /** The journals in work in this process. */
  readonly books: Map<RunId, RunBook>
  /** Told of a run whose journal goes with its range, so that those who wait for it learn its end. */
  readonly onRemoved: (head: RunHead, state: RunState) => void
}

/** History kept when the setting makes no sense (contract B 1.11). */
const historyAtLeast = 10

/** Works on one run under the lease of this generation, to its end. Never fails: what it could not do is in the journal or in the log. */
export const workOn = (
  workshop: Workshop,
  kind: RunKind | undefined,
  head: RunRecord,
  generation: number,
  firstPlan: Plan | undefined,
) =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const lease = yield* Lease
    const { maxLogHistory } = yield* Settings
    const book = yield* openBook(head.id, generation, workshop.signals)
    workshop.books.set(head.id, book)
    yield* Effect.addFinalizer(() => Effect.sync(() => workshop.books.delete(head.id)))

    const close = Effect.fnUntraced(function* ({ status, message }: Conclusion) {
      const at = new Date(yield* Clock.currentTimeMillis)
      yield* untilStored(
        Effect.uninterruptible(
          journal.close(head.id, generation, { type: "Ended", status, message }, rangeStateAfter(head.kind, status), at),
        ),
      )
      yield* untilStored(book.refresh)
    })

    /** Keeps what the end means; true when the run went with its subject. */
    const finish = Effect.fnUntraced(function* (end: Conclusion) {
      if (kind === undefined) return false
      const removal = Effect.map(Clock.currentTimeMillis, (now) =>
        workshop.onRemoved(head, { ...book.state(), status: end.status, endedAt: new Date(now) }),
      )
      return yield* untilStored(kind.finish(head, book.state(), end, removal)).pipe(
        Effect.catch((fault) => Effect.as(Effect.logWarning(fault.message), false)),
      )
    })
    const conclude = Effect.fnUntraced(function* (end: Conclusion) {
      if (!(yield* finish(end))) yield* close(end)
    })
    const untilShown = Effect.gen(function* () {
      if (rangeStateDuring(head.kind) !== "DEPLOYING") return
      const left = head.startedAt.getTime() + workshop.deployShownSeconds * 1000 - (yield* Clock.currentTimeMillis)
      if (left > 0) yield* Effect.raceFirst(Effect.sleep(left), book.cancelled)
    })

    const work = Effect.gen(function* () {
      if (generation > 1 || book.state().lastSeq > 0) yield* book.write({ type: "Resumed", generation })
      if (kind === undefined)
        return yield* close({ status: "failure", message: `this version of the service knows no runs of the kind ${head.kind}` })
      if (!(yield* waitTurn(head, book)))
        return yield* conclude({ status: "aborted", message: "the run was aborted before it began" })
      if (book.state().plan === undefined) {
        const plan = firstPlan === undefined ? yield* planRun(kind, head, book) : Result.succeed(firstPlan)
        if (Result.isFailure(plan)) {
          yield* untilShown
          return yield* conclude({ status: book.state().cancelRequested ? "aborted" : "failure", message: plan.failure })
        }
        yield* book.write({ type: "Planned", plan: plan.success })
      }
      const runStep = yield* makeStepRunner(kind, head, book, workshop.gate)
      yield* runSteps(book, workshop.slots, runStep, head.startedAt.getTime())
      yield* untilShown
      yield* conclude(concludeRun(book.state()))
      yield* Effect.ignore(journal.prune(maxLogHistory > 0 ? maxLogHistory : historyAtLeast))
    })

    yield* Effect.raceFirst(work, keepLease(workshop, head, generation, book)).pipe(
      Effect.catchCause((cause) => mourn(head, cause, (end) => Effect.andThen(Effect.ignoreCause(finish(end)), close(end)))),
      Effect.ensuring(Effect.ignore(lease.release(head.id, generation))),
    )
    workshop.signals.notify(head.id)
  }).pipe(
    Effect.scoped,
    // before the journal was open, or while it was closed: whoever looks for unfinished runs next tries again
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError(`Run ${head.id} was left`, cause),
    ),
    Effect.annotateLogs({ run: head.id, subject: subjectKey(head.subject) }),
  )

/** Renews the lease at a third of its time, and looks for cancels from other processes meanwhile. Fails when it is lost; never ends. */
const keepLease = Effect.fnUntraced(function* (
  { leaseSeconds }: Workshop,
  { id }: RunHead,
  generation: number,
  book: RunBook,
): Effect.fn.Return<never, LeaseLost, Lease> {
  const lease = yield* Lease
  for (;;) {
    yield* Effect.sleep((leaseSeconds * 1000) / 3)
    const now = new Date(yield* Clock.currentTimeMillis)
    const held = yield* Effect.result(lease.renew(id, generation, now, leaseSeconds))
    // a store that does not answer proves nothing: appends are fenced anyway
    if (Result.isSuccess(held) && !held.success) return yield* new LeaseLost({ what: `run ${id}`, generation })
    yield* Effect.ignore(book.refresh)
  }
})

/** What to do with a worker that broke: a lost lease is another worker's business now, a bug ends the run and is logged. */
const mourn = <R>(
  head: RunHead,
  cause: Cause.Cause<LeaseLost>,
  giveUp: (end: Conclusion) => Effect.Effect<void, LeaseLost, R>,
): Effect.Effect<void, never, R> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = Cause.squash(cause)
  if (error instanceof LeaseLost) return Effect.logWarning(`${error.message}; another worker goes on with it`)
  const message = isFault(error) ? error.message : "the service met a defect of its own; its log tells more"
  return Effect.logError(`Run ${head.id} broke`, cause).pipe(
    Effect.andThen(giveUp({ status: "failure", message })),
    Effect.ignoreCause,
  )
}
