import {
  type Conclusion,
  concludeRun,
  isFault,
  type Plan,
  type Range,
  rangeStateAfter,
  type RunHead,
  type RunId,
  type RunState,
} from "@rangewright/domain"
import { Lease, LeaseLost, Machines, Ranges, RunJournal } from "@rangewright/ports"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Settings } from "../settings.ts"
import { backoffSeconds, untilStored } from "./backoff.ts"
import { RunPlanner } from "./planner.ts"
import { restoreRequest } from "./request.ts"
import { openBook, type RunBook } from "./run-book.ts"
import { runSteps } from "./schedule-run.ts"
import type { Signals } from "./signals.ts"
import type { Slots } from "./slots.ts"
import { makeStepRunner } from "./step.ts"
import type { WorldGate } from "./world-gate.ts"

/** What all workers of a process share. */
export interface Workshop {
  readonly slots: Slots
  readonly signals: Signals
  readonly gate: WorldGate
  readonly leaseSeconds: number
  /** The journals in work in this process. */
  readonly books: Map<RunId, RunBook>
  /** Told of a run whose journal goes with its range, so that those who wait for it learn its end. */
  readonly onRemoved: (head: RunHead, state: RunState) => void
}

/** History kept when the setting makes no sense (contract B 1.11). */
const historyAtLeast = 10

/** Works on one run under the lease of this generation, to its end. Never fails: what it could not do is in the journal or in the log. */
export const workOn = (workshop: Workshop, head: RunHead, generation: number, firstPlan: Plan | undefined) =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const lease = yield* Lease
    const ranges = yield* Ranges
    const machines = yield* Machines
    const planner = yield* RunPlanner
    const { maxLogHistory } = yield* Settings
    const request = restoreRequest(head.options)
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

    /** A plan made anew, because the run was opened without one that still holds. */
    const planAgain = Effect.fnUntraced(function* (): Effect.fn.Return<Result.Result<Plan, string>, never> {
      if (request === undefined) return Result.fail("what the run was asked to do cannot be read from the store")
      for (let tries = 0; ; tries++) {
        const range: Range | undefined = yield* untilStored(ranges.find(head.rangeId))
        if (range === undefined) return Result.fail(`range ${head.rangeId} is gone`)
        const planned = yield* Effect.result(planner.plan(range, request, head.by, true))
        if (Result.isSuccess(planned)) return Result.succeed(planned.success)
        const { failure } = planned
        if (failure.kind !== "unavailable" || book.state().cancelRequested) return Result.fail(failure.message)
        yield* Effect.logWarning(failure.message)
        yield* Effect.raceFirst(Effect.sleep(backoffSeconds(tries, 10) * 1000), book.cancelled)
      }
    })

    /** What remains to be done in the store when all steps are over. True: the range is gone, and the run's journal with it. */
    const finish = Effect.fnUntraced(function* (end: Conclusion) {
      if (end.status !== "success") return false
      if (head.kind === "destroy") {
        const range = yield* untilStored(ranges.find(head.rangeId))
        if (range?.testing.enabled === true) {
          const testing = { enabled: false, allowedDomains: [], allowedIps: [] }
          yield* untilStored(ranges.change(head.rangeId, { testing })).pipe(Effect.ignore)
        }
      }
      if (head.kind === "delete-range") {
        workshop.onRemoved(head, { ...book.state(), status: "success", endedAt: new Date(yield* Clock.currentTimeMillis) })
        yield* untilStored(ranges.remove(head.rangeId))
        return true
      }
      const steps = [...book.state().steps.values()]
      const made = new Set(steps.flatMap(({ step: { action } }) => (action.kind === "clone" ? [action.machine.vmid] : [])))
      const gone = steps.flatMap(({ step: { action } }) =>
        action.kind === "delete" && !made.has(action.machine.vmid) ? [action.machine.mark.machine] : [],
      )
      if (gone.length > 0) yield* untilStored(machines.release(head.rangeId, gone))
      return false
    })

    const work = Effect.gen(function* () {
      if (generation > 1 || book.state().lastSeq > 0) yield* book.write({ type: "Resumed", generation })
      if (book.state().plan === undefined) {
        const plan = firstPlan === undefined ? yield* planAgain() : Result.succeed(firstPlan)
        if (Result.isFailure(plan)) {
          const status = book.state().cancelRequested ? "aborted" : "failure"
          return yield* close({ status, message: plan.failure })
        }
        yield* book.write({ type: "Planned", plan: plan.success })
      }
      const verbose = request?.kind === "deploy" && request.options.verbose
      const runStep = yield* makeStepRunner(head.rangeId, verbose, book, workshop.gate)
      yield* runSteps(book, workshop.slots, runStep, head.startedAt.getTime())
      const end = concludeRun(book.state())
      if (!(yield* finish(end))) yield* close(end)
      yield* Effect.ignore(journal.prune(maxLogHistory > 0 ? maxLogHistory : historyAtLeast))
    })

    yield* Effect.raceFirst(work, keepLease(workshop, head, generation, book)).pipe(
      Effect.catchCause((cause) => mourn(head, cause, close)),
      Effect.ensuring(Effect.ignore(lease.release(head.id, generation))),
    )
    workshop.signals.notify(head.id)
  }).pipe(Effect.scoped, Effect.annotateLogs({ run: head.id, range: head.rangeId }))

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
  close: (end: Conclusion) => Effect.Effect<void, LeaseLost, R>,
): Effect.Effect<void, never, R> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = Cause.squash(cause)
  if (error instanceof LeaseLost) return Effect.logWarning(`${error.message}; another worker goes on with it`)
  const message = isFault(error) ? error.message : "the service met a defect of its own; its log tells more"
  return Effect.logError(`Run ${head.id} broke`, cause).pipe(
    Effect.andThen(close({ status: "failure", message })),
    Effect.ignoreCause,
  )
}
