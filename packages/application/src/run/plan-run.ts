import { type Fault, isOnlyDoubt, type Plan, type RunHead } from "@rangewright/domain"
import type { LeaseLost } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { backoffSeconds, untilStored } from "./backoff.ts"
import type { RunBook } from "./run-book.ts"
import type { RunKind } from "./run-kind.ts"
import { makeWaiting } from "./world-gate.ts"

/** Most seconds between two tries while the hypervisor is away. */
const backoffMost = 10

/** The hypervisor is away, or in doubt: that passes, or somebody mends it. */
const passes = (fault: Fault): boolean => fault.kind === "unavailable" || isOnlyDoubt(fault)

/**
 * Plans a run that was opened without a plan that still holds: after a crash, or when another run came in between. Waits for a hypervisor
 * that is away. The failure says why there is no plan.
 */
export const planRun = Effect.fnUntraced(function* (
  kind: RunKind,
  head: RunHead,
  book: RunBook,
): Effect.fn.Return<Result.Result<Plan, string>, LeaseLost> {
  const waiting = makeWaiting(book.write)
  const attempt = Effect.result(untilStored(kind.plan(head, true)))
  const untilBack = Effect.gen(function* () {
    for (let tries = 0; ; tries++) {
      yield* Effect.raceFirst(Effect.sleep(backoffSeconds(tries, backoffMost) * 1000), book.cancelled)
      const planned = yield* attempt
      if (Result.isSuccess(planned) || !passes(planned.failure) || book.state().cancelRequested) return planned
    }
  })
  const first = yield* attempt
  const goOn = Result.isFailure(first) && passes(first.failure) && !book.state().cancelRequested
  const last = goOn ? yield* waiting({ reason: first.failure.message, back: "the hypervisor answers again" }, untilBack) : first
  return Result.mapError(last, ({ message }) => message)
})
