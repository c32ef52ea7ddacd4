import { type Plan, rangeOf, type RunHead } from "@rangewright/domain"
import { type LeaseLost, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { backoffSeconds, untilStored } from "./backoff.ts"
import { RunPlanner } from "./planner.ts"
import type { RunBook } from "./run-book.ts"
import type { RunRequest } from "./run-engine.ts"
import { makeWaiting } from "./world-gate.ts"

/** Most seconds between two tries while the hypervisor is away. */
const backoffMost = 10

/**
 * Plans a run that was opened without a plan that still holds: after a crash, or when another run came in between. Waits for a hypervisor
 * that is away. The failure says why there is no plan.
 */
export const planRun = Effect.fnUntraced(function* (
  head: RunHead,
  request: RunRequest | undefined,
  book: RunBook,
): Effect.fn.Return<Result.Result<Plan, string>, LeaseLost, Ranges | RunPlanner> {
  const planner = yield* RunPlanner
  const ranges = yield* Ranges
  const waiting = makeWaiting(book.write)
  if (request === undefined) return Result.fail("what the run was asked to do cannot be read from the store")
  const attempt = Effect.gen(function* () {
    const rangeId = rangeOf(head)
    const range = rangeId === undefined ? undefined : yield* untilStored(ranges.find(rangeId))
    if (range === undefined) return yield* Effect.fail({ message: `range ${rangeId} is gone`, again: false })
    return yield* planner
      .plan(range, request, head.by, true)
      .pipe(Effect.mapError(({ kind, message }) => ({ message, again: kind === "unavailable" })))
  })
  const untilBack = Effect.gen(function* () {
    for (let tries = 0; ; tries++) {
      yield* Effect.raceFirst(Effect.sleep(backoffSeconds(tries, backoffMost) * 1000), book.cancelled)
      const planned = yield* Effect.result(attempt)
      if (Result.isSuccess(planned) || !planned.failure.again || book.state().cancelRequested) return planned
    }
  })
  const first = yield* Effect.result(attempt)
  const goOn = Result.isFailure(first) && first.failure.again && !book.state().cancelRequested
  const last = goOn ? yield* waiting(first.failure.message, untilBack) : first
  return Result.mapError(last, ({ message }) => message)
})
