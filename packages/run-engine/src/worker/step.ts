import type { Fault, Json, ObservedCluster, RunEvent, RunHead, Step, StepFacts, StepFailure } from "@rangewright/domain"
import { GuestFault, HypervisorFault, LeaseLost } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { backoffSeconds, retryStorage } from "../retry/backoff.ts"
import { redacted } from "./redacted.ts"
import { stepContext } from "./step-context.ts"
import { decide, type Decision, triesAtMost } from "../retry/decide.ts"
import type { JournalWriter } from "../journal/journal-writer.ts"
import type { RunKind } from "../kind/run-kind.ts"
import { makeWaiting, type HypervisorProbe } from "../retry/hypervisor-probe.ts"

/** Longest pause before a step is dispatched again. */
const repeatBackoffMost = 15

const failureOf = (fault: Fault, step: Step): StepFailure => ({
  tag: fault._tag,
  kind: fault.kind,
  message: redacted(fault.message, step),
  ...(fault.hint === undefined ? {} : { hint: fault.hint }),
  ...(fault.issues.length === 0
    ? {}
    : { issues: fault.issues.map((issue) => ({ ...issue, message: redacted(issue.message, step) })) }),
})

/** Warnings quote what tools and guests say. */
const shownFacts = ({ warnings, ...facts }: StepFacts, step: Step): StepFacts =>
  warnings === undefined ? facts : { ...facts, warnings: warnings.map((text) => redacted(text, step)) }

const lacksQuorum = (fault: Fault): boolean => fault instanceof HypervisorFault && fault.facts.reason === "no-quorum"

/** Texts of the Waiting and Continued entries for this fault. */
const awaitedBy = (fault: Fault): { readonly until: string; readonly back: string } => {
  if (fault instanceof GuestFault)
    return { until: `${fault.facts.machine} can be reached`, back: `${fault.facts.machine} is retried` }
  if (lacksQuorum(fault)) return { until: "the cluster has quorum again", back: "the cluster has quorum again" }
  return { until: "it can be reached", back: "the hypervisor answers again" }
}

/** The attempts of one step in this process. */
interface AttemptState {
  attempt: number
  /** Whether `StepStarted` of this attempt is in the journal. */
  started: boolean
  /** The token for `settle`; undefined while nothing is dispatched (null is a token). */
  token: Json | undefined
  /** How often each decision was taken. */
  readonly tries: Record<Exclude<Decision, "never">, number>
}

/** What follows a fault: another attempt, or the failure of the step with this fault. */
type RetryOrFail = "retry" | Fault

/** How a step ended: done, failed for good, or not begun because of a cancel. The first two are journaled. */
export type StepOutcome = "settled" | "failed" | "dropped"

/** Runs one step: start, dispatch, settle, each journaled. Faults are retried per `decide.ts`. */
export const makeStepRunner = ({ actions }: RunKind, head: RunHead, writer: JournalWriter, probe: HypervisorProbe) => {
  const waiting = makeWaiting(writer.write)

  /** False when the run was cancelled meanwhile: then there is no further attempt. */
  const unlessCancelled = <E>(effect: Effect.Effect<void, E>): Effect.Effect<boolean, E> =>
    Effect.raceFirst(Effect.as(effect, true), Effect.as(writer.cancelled, false))
  const awaitReturn = (step: Step, fault: Fault, tries: number): Effect.Effect<boolean, LeaseLost> => {
    const { until, back } = awaitedBy(fault)
    const isReachable = (cluster: ObservedCluster) => actions.isReachable?.(step, cluster) ?? true
    return waiting(
      { key: step.key, reason: `${redacted(fault.message, step)}; the run continues when ${until}, or is aborted`, back },
      unlessCancelled(probe.waitUntilBack({ isReachable, quorate: lacksQuorum(fault) }, tries)),
    )
  }

  /** Gives the machine of a clone another, free VMID. */
  const reallocate = Effect.fnUntraced(function* (step: Step): Effect.fn.Return<RetryOrFail, LeaseLost> {
    const seen = yield* Effect.result(probe.observe)
    if (Result.isFailure(seen)) return (yield* awaitReturn(step, seen.failure, 0)) ? yield* reallocate(step) : seen.failure
    const given = yield* Effect.result(retryStorage(actions.reallocate?.(step, seen.success) ?? Effect.undefined))
    if (Result.isFailure(given)) return given.failure
    if (given.success !== undefined) yield* writer.write({ type: "Reallocated", ...given.success })
    return "retry"
  })

  /** Waits until what the step needs is reachable, and then lets the kind restore it. By then the run no longer counts as waiting. */
  const lookAgain = Effect.fnUntraced(function* (
    step: Step,
    fault: Fault,
    tries: number,
  ): Effect.fn.Return<RetryOrFail, LeaseLost> {
    if (!(yield* awaitReturn(step, fault, tries))) return fault
    const bringBack = retryStorage(actions.beforeRetry?.(step, stepContext(head, step, writer)) ?? Effect.void)
    const done = yield* Effect.result(unlessCancelled(bringBack))
    if (Result.isSuccess(done)) return done.success ? "retry" : fault
    return done.failure instanceof LeaseLost ? yield* done.failure : done.failure
  })

  const handleFault = Effect.fnUntraced(function* (
    step: Step,
    fault: Fault,
    state: AttemptState,
  ): Effect.fn.Return<RetryOrFail, LeaseLost> {
    const decision = decide(step.action, fault)
    if (decision === "never") return fault
    const nth = state.tries[decision]++
    if (decision === "wait") return (yield* awaitReturn(step, fault, nth)) ? "retry" : fault
    if (nth >= triesAtMost[decision]) return fault
    state.started = false
    state.token = undefined
    yield* writer.write({ type: "StepFailed", key: step.key, failure: failureOf(fault, step), final: false })
    if (decision === "reallocate") return yield* reallocate(step)
    if (decision === "look") return yield* lookAgain(step, fault, nth)
    const pause = Effect.sleep(backoffSeconds(nth, repeatBackoffMost) * 1000)
    return (yield* unlessCancelled(pause)) ? "retry" : fault
  })

  const tryOnce = Effect.fnUntraced(function* (step: Step, state: AttemptState): Effect.fn.Return<"settled" | "dropped", Fault> {
    const { key } = step
    const context = stepContext(head, step, writer)
    if (state.token === undefined) {
      if (!state.started) {
        state.attempt += 1
        yield* writer.write({ type: "StepStarted", key, attempt: state.attempt })
        // a cancel came before this point of no return
        if (writer.state().steps.get(key)?.phase === "planned") return "dropped"
        state.started = true
      }
      const token = yield* retryStorage(actions.dispatch(step, context))
      yield* writer.write({ type: "StepDispatched", key, attempt: state.attempt, token })
      state.token = token
    }
    const { facts, output } = yield* retryStorage(actions.settle(step, state.token, context))
    const settled: RunEvent = { type: "StepSettled", key, facts: shownFacts(facts, step) }
    yield* output === "" ? writer.write(settled) : writer.write({ type: "Output", key, text: redacted(output, step) }, settled)
    return "settled"
  })

  /** The fault that the run reports for a step that failed for good. */
  const lastWord = Effect.fnUntraced(function* (step: Step, fault: Fault): Effect.fn.Return<Fault, LeaseLost> {
    if (actions.afterFailure === undefined || writer.state().cancelRequested) return fault
    const done = yield* Effect.result(retryStorage(actions.afterFailure(step, fault, stepContext(head, step, writer))))
    if (Result.isSuccess(done)) return done.success
    return done.failure instanceof LeaseLost ? yield* done.failure : fault
  })

  return Effect.fnUntraced(function* (key: string): Effect.fn.Return<StepOutcome, LeaseLost> {
    const known = writer.state().steps.get(key)
    const state: AttemptState = {
      attempt: known?.attempt ?? 0,
      started: known?.phase === "started" || known?.phase === "dispatched",
      token: known?.phase === "dispatched" ? known.token : undefined,
      tries: { wait: 0, repeat: 0, insist: 0, outlast: 0, look: 0, reallocate: 0 },
    }
    for (;;) {
      // read again each time: a reallocation changes it
      const step = writer.state().steps.get(key)?.step
      if (step === undefined) return yield* Effect.die(new Error(`the plan has no step ${key}`))
      const done = yield* Effect.result(tryOnce(step, state))
      if (Result.isSuccess(done)) return done.success
      if (done.failure instanceof LeaseLost) return yield* done.failure
      const next = yield* handleFault(step, done.failure, state)
      if (next === "retry") continue
      const told = yield* lastWord(step, next)
      yield* writer.write({ type: "StepFailed", key, failure: failureOf(told, step), final: true })
      return "failed"
    }
  })
}
