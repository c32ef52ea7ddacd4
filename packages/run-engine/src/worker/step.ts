import type { Fault, Json, RunEvent, RunHead, Step, StepFailure } from "@rangewright/domain"
import { GuestFault, HypervisorFault, LeaseLost } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { backoffSeconds, untilStored } from "../retry/backoff.ts"
import { covered } from "./covered.ts"
import { stepContext } from "./step-context.ts"
import { decide, type Decision, triesAtMost } from "../retry/decide.ts"
import type { RunBook } from "../journal/run-book.ts"
import type { RunKind } from "../kind/run-kind.ts"
import { makeWaiting, type WorldGate } from "../retry/world-gate.ts"

/** Most seconds before a step that met a lock is tried again. */
const repeatBackoffMost = 15

const failureOf = (fault: Fault, step: Step): StepFailure => ({
  tag: fault._tag,
  kind: fault.kind,
  message: covered(fault.message, step),
  ...(fault.hint === undefined ? {} : { hint: fault.hint }),
  ...(fault.issues.length === 0
    ? {}
    : { issues: fault.issues.map((issue) => ({ ...issue, message: covered(issue.message, step) })) }),
})

const lacksQuorum = (fault: Fault): boolean => fault instanceof HypervisorFault && fault.facts.reason === "no-quorum"

/** What a step that met this fault waits for, and what is said once that is there. */
const awaitedOf = (fault: Fault): { readonly until: string; readonly back: string } => {
  if (fault instanceof GuestFault)
    return { until: `${fault.facts.machine} can be reached`, back: `${fault.facts.machine} is tried again` }
  if (lacksQuorum(fault)) return { until: "the cluster has its votes again", back: "the cluster has its votes again" }
  return { until: "it can be reached", back: "the hypervisor answers again" }
}

/** Where one step stands in this process. */
interface Life {
  attempt: number
  /** Whether `StepStarted` of this attempt is in the journal. */
  started: boolean
  /** What `settle` needs; undefined while nothing is dispatched (null is a token). */
  token: Json | undefined
  readonly tries: Record<Exclude<Decision, "never">, number>
}

/** What follows a fault: another try, or the end of the step with this fault. */
type Verdict = "again" | Fault

/** How the life of a step ends: done, failed for good, or not begun because of a cancel. The first two are in the journal then. */
export type StepFate = "settled" | "failed" | "dropped"

/** Makes the life of one step: start, dispatch, settle, all journaled, with every fault answered by the table in `decide.ts`. */
export const makeStepRunner = ({ actions }: RunKind, head: RunHead, book: RunBook, gate: WorldGate) => {
  const waiting = makeWaiting(book.write)

  /** False when the run was cancelled meanwhile: then nothing is tried again. */
  const unlessCancelled = (effect: Effect.Effect<void>): Effect.Effect<boolean> =>
    Effect.raceFirst(Effect.as(effect, true), Effect.as(book.cancelled, false))
  const awaitWorld = (step: Step, fault: Fault, tries: number): Effect.Effect<boolean, LeaseLost> => {
    const { until, back } = awaitedOf(fault)
    return waiting(
      { key: step.key, reason: `${covered(fault.message, step)}; the run continues when ${until}, or is aborted`, back },
      unlessCancelled(
        gate.whenBack(
          { isReachable: (cluster) => actions.isReachable?.(step, cluster) ?? true, quorate: lacksQuorum(fault) },
          tries,
        ),
      ),
    )
  }

  /** Gives the machine of a clone another VMID, one that nothing has. */
  const reallocate = Effect.fnUntraced(function* (step: Step): Effect.fn.Return<Verdict, LeaseLost> {
    const seen = yield* Effect.result(gate.observe)
    if (Result.isFailure(seen)) return (yield* awaitWorld(step, seen.failure, 0)) ? yield* reallocate(step) : seen.failure
    const given = yield* Effect.result(untilStored(actions.reallocate?.(step, seen.success) ?? Effect.undefined))
    if (Result.isFailure(given)) return given.failure
    if (given.success !== undefined) yield* book.write({ type: "Reallocated", ...given.success })
    return "again"
  })

  const answer = Effect.fnUntraced(function* (step: Step, fault: Fault, life: Life): Effect.fn.Return<Verdict, LeaseLost> {
    const decision = decide(step.action, fault)
    if (decision === "never") return fault
    const nth = life.tries[decision]++
    if (decision === "wait") return (yield* awaitWorld(step, fault, nth)) ? "again" : fault
    if (nth >= triesAtMost[decision]) return fault
    life.started = false
    life.token = undefined
    yield* book.write({ type: "StepFailed", key: step.key, failure: failureOf(fault, step), final: false })
    if (decision === "reallocate") return yield* reallocate(step)
    if (decision === "look") return (yield* awaitWorld(step, fault, nth)) ? "again" : fault
    const pause = Effect.sleep(backoffSeconds(nth, repeatBackoffMost) * 1000)
    return (yield* unlessCancelled(pause)) ? "again" : fault
  })

  const proceed = Effect.fnUntraced(function* (step: Step, life: Life): Effect.fn.Return<"settled" | "dropped", Fault> {
    const { key } = step
    const context = stepContext(head, step, book)
    if (life.token === undefined) {
      if (!life.started) {
        life.attempt += 1
        yield* book.write({ type: "StepStarted", key, attempt: life.attempt })
        // a cancel was in the journal before this point of no return
        if (book.state().steps.get(key)?.phase === "planned") return "dropped"
        life.started = true
      }
      const token = yield* untilStored(actions.dispatch(step, context))
      yield* book.write({ type: "StepDispatched", key, attempt: life.attempt, token })
      life.token = token
    }
    const { facts, output } = yield* untilStored(actions.settle(step, life.token, context))
    const settled: RunEvent = { type: "StepSettled", key, facts }
    yield* output === "" ? book.write(settled) : book.write({ type: "Output", key, text: covered(output, step) }, settled)
    return "settled"
  })

  return Effect.fnUntraced(function* (key: string): Effect.fn.Return<StepFate, LeaseLost> {
    const known = book.state().steps.get(key)
    const life: Life = {
      attempt: known?.attempt ?? 0,
      started: known?.phase === "started" || known?.phase === "dispatched",
      token: known?.phase === "dispatched" ? known.token : undefined,
      tries: { wait: 0, repeat: 0, insist: 0, outlast: 0, look: 0, reallocate: 0 },
    }
    for (;;) {
      // read anew each time: a reallocation changes it
      const step = book.state().steps.get(key)?.step
      if (step === undefined) return yield* Effect.die(new Error(`the plan has no step ${key}`))
      const done = yield* Effect.result(proceed(step, life))
      if (Result.isSuccess(done)) return done.success
      if (done.failure instanceof LeaseLost) return yield* done.failure
      const verdict = yield* answer(step, done.failure, life)
      if (verdict === "again") continue
      yield* book.write({ type: "StepFailed", key, failure: failureOf(verdict, step), final: true })
      return "failed"
    }
  })
}
