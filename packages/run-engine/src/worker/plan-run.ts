import type { Fault, Plan, RunHead } from "@rangewright/domain"
import { LeaseLost } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { backoffSeconds, retryStorage } from "../retry/backoff.ts"
import { makeMayPass } from "../retry/decide.ts"
import type { JournalWriter } from "../journal/journal-writer.ts"
import type { RunKind } from "../kind/run-kind.ts"
import { makeWaiting } from "../retry/hypervisor-probe.ts"

/** Longest pause between two attempts. */
const backoffMost = 10

/**
 * Plans a run that was opened without a valid plan: after a crash, or when another run came in between. A fault that may pass is retried as
 * often as one of a step. The failure says why there is no plan.
 */
export const planRun = Effect.fnUntraced(function* (
  kind: RunKind,
  head: RunHead,
  writer: JournalWriter,
): Effect.fn.Return<Result.Result<Plan, string>, LeaseLost> {
  const waiting = makeWaiting(writer.write)
  const attempt = retryStorage(kind.plan(head, true))
  const mayPass = makeMayPass()
  const goesOn = (fault: Fault): boolean => !writer.state().cancelRequested && mayPass(fault)
  const untilPlanned = Effect.gen(function* () {
    for (let tries = 0; ; tries++) {
      yield* Effect.raceFirst(Effect.sleep(backoffSeconds(tries, backoffMost) * 1000), writer.cancelled)
      const planned = yield* Effect.result(attempt)
      if (Result.isSuccess(planned)) return planned.success
      if (!goesOn(planned.failure)) return yield* Effect.fail(planned.failure)
    }
  })
  const planned = yield* attempt.pipe(
    Effect.catchIf(goesOn, ({ message }) => waiting({ reason: message, back: "the hypervisor answers again" }, untilPlanned)),
    Effect.result,
  )
  if (Result.isFailure(planned) && planned.failure instanceof LeaseLost) return yield* planned.failure
  return Result.mapError(planned, ({ message }) => message)
})
