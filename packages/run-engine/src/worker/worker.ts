import {
  type Conclusion,
  concludeRun,
  emptyRunState,
  isFault,
  type Plan,
  type RunHead,
  type RunId,
  type RunState,
  subjectKey,
} from "@rangewright/domain"
import { JournalUnreadable, LeaseLost, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { untilStored } from "../retry/backoff.ts"
import { Hold, makeHold } from "./hold.ts"
import { planRun } from "./plan-run.ts"
import { openBook, type RunBook } from "../journal/run-book.ts"
import type { RunKind } from "../kind/run-kind.ts"
import { runSteps } from "../schedule/schedule-run.ts"
import type { Signals } from "../journal/signals.ts"
import type { Slots } from "../schedule/slots.ts"
import { makeStepRunner } from "./step.ts"
import { waitTurn } from "./wait-turn.ts"
import type { WorldGate } from "../retry/world-gate.ts"

/** What all workers of a process share. */
export interface Workshop {
  readonly slots: Slots
  readonly signals: Signals
  readonly gate: WorldGate
  readonly leaseSeconds: number
  readonly shownSeconds: number
  readonly runsKept: number
  /** The journals in work in this process. */
  readonly books: Map<RunId, RunBook>
  /** Told of a run that only a newer version of the service can continue. */
  readonly onNewer: (runId: RunId) => void
  /** Told of a run whose journal goes with its range, so that those who wait for it learn its end. */
  readonly onRemoved: (head: RunHead, state: RunState) => void
}

/** A lease that was claimed, and the moment (of `monotonicMillis`) before that. */
export interface Claim {
  readonly generation: number
  readonly since: number
}

/** Works on one run under its lease, to its end. Never fails: what it could not do is in the journal or in the log. */
export const workOn = (
  workshop: Workshop,
  kind: RunKind | undefined,
  head: RunRecord,
  { generation, since }: Claim,
  firstPlan: Plan | undefined,
) =>
  Effect.gen(function* () {
    const hold = yield* makeHold(head.id, generation, workshop.leaseSeconds, since)
    const journal = yield* RunJournal
    const end = Effect.fnUntraced(function* ({ status, message }: Conclusion) {
      const at = new Date(yield* Clock.currentTimeMillis)
      const state = kind?.rangeState?.after(status)
      yield* untilStored(
        Effect.uninterruptible(journal.close(head.id, generation, { type: "Ended", status, message }, state, at)),
      )
    })
    /** Keeps what the end means; true when the run went with its subject. */
    const finish = Effect.fnUntraced(function* (state: RunState, end: Conclusion) {
      if (kind === undefined) return false
      const removal = Effect.map(Clock.currentTimeMillis, (now) =>
        workshop.onRemoved(head, { ...state, status: end.status, endedAt: new Date(now) }),
      )
      return yield* untilStored(kind.finish(head, state, end, removal)).pipe(
        Effect.catch((fault) => Effect.as(Effect.logWarning(fault.message), false)),
      )
    })
    /** The lease is given back, for an instance that knows how to go on. */
    const leave = (because: string) =>
      Effect.suspend(() => {
        workshop.onNewer(head.id)
        return Effect.logWarning(`${because}; run ${head.id} is left to an instance of that version`)
      })
    /** Works while the lease is renewed, each time followed by `after`. `giveUp` ends the run when the work broke. */
    const underLease = <R>(
      work: Effect.Effect<void, LeaseLost, R>,
      after: Effect.Effect<void>,
      giveUp: (end: Conclusion) => Effect.Effect<void, LeaseLost>,
    ) =>
      Effect.raceFirst(work, hold.keep(after)).pipe(
        Effect.catchCause((cause) => mourn(head, cause, giveUp, leave)),
        Effect.provideService(Hold, hold.sure),
        Effect.ensuring(Effect.ignore(journal.release(head.id, generation))),
      )
    const opened = yield* Effect.result(openBook(head, generation, workshop.signals))
    if (Result.isFailure(opened)) {
      const { message, facts } = opened.failure
      const giveUp = Effect.gen(function* () {
        yield* Effect.logError(message)
        // nobody can say what of it was done, nor what is left to do
        const failure: Conclusion = { status: "failure", message }
        if (!(yield* finish(emptyRunState, failure))) yield* end(failure)
      })
      yield* underLease(facts.newer === true ? leave(message) : giveUp, Effect.void, end)
      return workshop.signals.notify(head.id)
    }
    const book = opened.success
    workshop.books.set(head.id, book)
    yield* Effect.addFinalizer(() => Effect.sync(() => workshop.books.delete(head.id)))

    const close = (conclusion: Conclusion) => Effect.andThen(end(conclusion), Effect.orDie(untilStored(book.refresh)))

    const conclude = Effect.fnUntraced(function* (end: Conclusion) {
      if (!(yield* finish(book.state(), end))) yield* close(end)
    })
    const untilShown = Effect.gen(function* () {
      if (kind?.isShownAtWork !== true) return
      const most = workshop.shownSeconds * 1000
      // a clock that was set back since it opened makes it no longer
      const left = Math.min(most, head.startedAt.getTime() + most - (yield* Clock.currentTimeMillis))
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
      const runStep = makeStepRunner(kind, head, book, workshop.gate)
      yield* runSteps(book, yield* workshop.slots.of(head, generation), runStep)
      yield* untilShown
      yield* conclude(concludeRun(book.state()))
      yield* Effect.ignore(journal.prune(workshop.runsKept))
    })

    // looks for cancels from other processes too
    yield* underLease(work, Effect.ignore(book.refresh), (end) =>
      Effect.andThen(Effect.ignoreCause(finish(book.state(), end)), close(end)),
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

/**
 * What to do with a worker that broke: a lost lease is another worker's business now, as is what a newer version wrote meanwhile; a bug ends
 * the run and is logged.
 */
const mourn = <R>(
  head: RunHead,
  cause: Cause.Cause<LeaseLost>,
  giveUp: (end: Conclusion) => Effect.Effect<void, LeaseLost, R>,
  leave: (because: string) => Effect.Effect<void>,
): Effect.Effect<void, never, R> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = Cause.squash(cause)
  if (error instanceof LeaseLost) return Effect.logWarning(`${error.message}; another worker continues it`)
  if (error instanceof JournalUnreadable && error.facts.newer === true) return leave(error.message)
  const message = isFault(error) ? error.message : "the service has a defect; its log says more"
  return Effect.logError(`Run ${head.id} broke`, cause).pipe(
    Effect.andThen(giveUp({ status: "failure", message })),
    Effect.ignoreCause,
  )
}
