import { retryOf, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** Seconds before the n-th repetition (from 0): 1, 2, 4 … up to `most`. */
export const backoffSeconds = (tries: number, most: number): number => Math.min(most, 2 ** Math.min(tries, 10))

/** Longest pause while the store does not take writes. */
const storeBackoffMost = 15

/**
 * Retries while the store is not usable: a full disk pauses a run and does not fail it. The effect must be safe to repeat, even if the
 * first attempt reached the disk. A damaged record is a defect.
 */
export const retryStorage = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.fn.Return<A, Exclude<E, StorageFault>, R> {
  for (let tries = 0; ; tries++) {
    const done = yield* Effect.result(effect)
    if (Result.isSuccess(done)) return done.success
    const fault = done.failure
    if (!(fault instanceof StorageFault)) return yield* Effect.fail(fault as Exclude<E, StorageFault>)
    // waiting does not repair a record: the run ends with a message that names it
    if (retryOf(fault) !== "wait") return yield* Effect.die(fault)
    yield* Effect.logWarning(fault.message)
    yield* Effect.sleep(backoffSeconds(tries, storeBackoffMost) * 1000)
  }
})
