import {
  type Conclusion,
  concludeRun,
  emptyRunState,
  isFault,
  lessonsOf,
  type Plan,
  type RunHead,
  type RunId,
  type RunState,
  subjectKey,
} from "@rangewright/domain"
import { JournalUnreadable, LeaseCheck, LeaseLost, RunJournal, type RunRecord, StepDurations } from "@rangewright/ports"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { retryStorage } from "../retry/backoff.ts"
import { makeWorkerLease } from "./lease.ts"
import { planRun } from "./plan-run.ts"
import { openJournal, type JournalWriter } from "../journal/journal-writer.ts"
import type { RunKind } from "../kind/run-kind.ts"
import { runSteps } from "../schedule/schedule-run.ts"
import type { Signals } from "../journal/signals.ts"
import type { Slots } from "../schedule/slots.ts"
import { makeStepRunner } from "./step.ts"
import { waitForBlocker } from "./wait-for-blocker.ts"
import type { HypervisorProbe } from "../retry/hypervisor-probe.ts"

/** Shared by all workers of a process. */
export interface WorkerContext {
  readonly slots: Slots
  readonly signals: Signals
  readonly probe: HypervisorProbe
  readonly leaseSeconds: number
  readonly shownSeconds: number
  readonly runsKept: number
  /** The journals of the runs that this process executes. */
  readonly journals: Map<RunId, JournalWriter>
  /** Called with a run that only a newer version of the service can continue. */
  readonly onNewer: (runId: RunId) => void
  /** Called before a run's journal is deleted with its range, so that those who wait for the run learn how it ended. */
  readonly onRemoved: (head: RunHead, state: RunState) => void
}

/** A claimed lease, and the time (`monotonicMillis`) just before the claim. */
export interface Claim {
  readonly generation: number
  readonly since: number
}

/** Executes one run under its lease, to its end. Never fails: failures are in the journal or in the log. */
export const executeRun = (
  context: WorkerContext,
  kind: RunKind,
  head: RunRecord,
  { generation, since }: Claim,
  firstPlan: Plan | undefined,
) =>
  Effect.gen(function* () {
    const lease = yield* makeWorkerLease(head.id, generation, context.leaseSeconds, since)
    const journal = yield* RunJournal
    const durations = yield* StepDurations
    const end = Effect.fnUntraced(function* ({ status, message }: Conclusion) {
      const at = new Date(yield* Clock.currentTimeMillis)
      const state = kind.rangeState?.after(status)
      yield* retryStorage(
        Effect.uninterruptible(journal.close(head.id, generation, { type: "Ended", status, message }, state, at)),
      )
    })
    /** Applies the outcome to the store; true when the run was removed with its subject. */
    const finish = Effect.fnUntraced(function* (state: RunState, end: Conclusion) {
      const removal = Effect.map(Clock.currentTimeMillis, (now) =>
        context.onRemoved(head, { ...state, status: end.status, endedAt: new Date(now) }),
      )
      return yield* retryStorage(kind.finish(head, state, end, removal)).pipe(
        Effect.catch((fault) => Effect.as(Effect.logWarning(fault.message), false)),
      )
    })
    /** Leaves the run to an instance that can continue it; the lease is released. */
    const leave = (because: string) =>
      Effect.suspend(() => {
        context.onNewer(head.id)
        return Effect.logWarning(`${because}; run ${head.id} is left to an instance of that version`)
      })
    /** Renews the lease while the work runs, and releases it at the end. `giveUp` ends the run when the work crashes. */
    const underLease = <R>(
      work: Effect.Effect<void, LeaseLost, R>,
      after: Effect.Effect<void>,
      giveUp: (end: Conclusion) => Effect.Effect<void, LeaseLost>,
    ) =>
      Effect.raceFirst(work, lease.keepRenewed(after)).pipe(
        Effect.catchCause((cause) => handleWorkerFailure(head, cause, giveUp, leave)),
        Effect.provideService(LeaseCheck, lease.check),
        Effect.ensuring(Effect.ignore(journal.release(head.id, generation))),
      )
    const opened = yield* Effect.result(openJournal(head, generation, context.signals))
    if (Result.isFailure(opened)) {
      const { message, facts } = opened.failure
      const giveUp = Effect.gen(function* () {
        yield* Effect.logError(message)
        // what was done and what is left to do is unknown
        const failure: Conclusion = { status: "failure", message }
        if (!(yield* finish(emptyRunState, failure))) yield* end(failure)
      })
      yield* underLease(facts.newer === true ? leave(message) : giveUp, Effect.void, end)
      return context.signals.notify(head.id)
    }
    const writer = opened.success
    context.journals.set(head.id, writer)
    yield* Effect.addFinalizer(() => Effect.sync(() => context.journals.delete(head.id)))

    const close = (conclusion: Conclusion) => Effect.andThen(end(conclusion), Effect.orDie(retryStorage(writer.refresh)))

    const told = (to: string, because: string | undefined) =>
      writer.write({ type: "Notified", to, ...(because === undefined ? {} : { because }) })
    const notify = (end: Conclusion) =>
      (kind.notify?.(head, writer.state(), end, told) ?? Effect.void).pipe(
        // it never changes the outcome
        Effect.catchCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.interrupt
            : Effect.logWarning(`Not everybody was notified of the end of run ${head.id}`, cause),
        ),
      )
    const conclude = Effect.fnUntraced(function* (end: Conclusion) {
      if (yield* finish(writer.state(), end)) return
      yield* notify(end)
      yield* close(end)
    })
    const untilMinimumTime = Effect.gen(function* () {
      if (kind.isShownAtWork !== true) return
      const most = context.shownSeconds * 1000
      // never longer, also when the clock was set back meanwhile
      const left = Math.min(most, head.startedAt.getTime() + most - (yield* Clock.currentTimeMillis))
      // timers may end a millisecond early
      if (left > 0) yield* Effect.raceFirst(Effect.sleep(left + 1), writer.cancelled)
    })

    const work = Effect.gen(function* () {
      if (generation > 1 || writer.state().lastSeq > 0) yield* writer.write({ type: "Resumed", generation })
      if (!(yield* waitForBlocker(head, writer)))
        return yield* conclude({ status: "aborted", message: "the run was aborted before it started" })
      if (writer.state().plan === undefined) {
        const plan = firstPlan === undefined ? yield* planRun(kind, head, writer) : Result.succeed(firstPlan)
        if (Result.isFailure(plan)) {
          yield* untilMinimumTime
          return yield* conclude({ status: writer.state().cancelRequested ? "aborted" : "failure", message: plan.failure })
        }
        yield* writer.write({ type: "Planned", plan: plan.success })
      }
      const runStep = makeStepRunner(kind, head, writer, context.probe)
      yield* runSteps(writer, yield* context.slots.of(head, generation), runStep)
      yield* untilMinimumTime
      // before the end, so that a plan made after it knows
      yield* Effect.ignore(durations.learn(head.by, lessonsOf(writer.state())))
      yield* conclude(concludeRun(writer.state()))
      yield* Effect.ignore(journal.prune(head, context.runsKept))
    })

    yield* underLease(work, Effect.ignore(writer.refresh), (end) =>
      Effect.andThen(Effect.ignoreCause(Effect.andThen(finish(writer.state(), end), notify(end))), close(end)),
    )
    context.signals.notify(head.id)
  }).pipe(
    Effect.scoped,
    // failed before the journal was open or while closing the run: the next `recover` tries again
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError(`The worker of run ${head.id} stopped`, cause),
    ),
    Effect.annotateLogs({ run: head.id, subject: subjectKey(head.subject) }),
  )

/**
 * Handles the failure of a worker. After a lost lease another worker has the run; after an entry of a newer version, an instance of that
 * version continues it. Any other failure is logged and ends the run.
 */
const handleWorkerFailure = <R>(
  head: RunHead,
  cause: Cause.Cause<LeaseLost>,
  giveUp: (end: Conclusion) => Effect.Effect<void, LeaseLost, R>,
  leave: (because: string) => Effect.Effect<void>,
): Effect.Effect<void, never, R> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = Cause.squash(cause)
  if (error instanceof LeaseLost) return Effect.logWarning(`${error.message}; another worker continues it`)
  if (error instanceof JournalUnreadable && error.facts.newer === true) return leave(error.message)
  const message = isFault(error) ? error.message : "the service has a bug; its log has the details"
  return Effect.logError(`Run ${head.id} crashed`, cause).pipe(
    Effect.andThen(giveUp({ status: "failure", message })),
    Effect.ignoreCause,
  )
}
