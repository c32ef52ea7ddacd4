import { retryOf, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** Seconds before the n-th repetition (from 0): 1, 2, 4 … at most `most`. */
export const backoffSeconds = (tries: number, most: number): number => Math.min(most, 2 ** Math.min(tries, 10))

/** Most seconds between two looks at a store that does not take writes. */
const storeBackoffMost = 15

/**
 * Repeats until the store can do it: a full disk stops a run, it does not fail it. The work is written so that repeating it is safe even
 * where the first try did reach the disk.
 */
export const untilStored = Effect.fnUntraced(function* <A, E, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.fn.Return<A, Exclude<E, StorageFault>, R> {
  for (let tries = 0; ; tries++) {
    const done = yield* Effect.result(effect)
    if (Result.isSuccess(done)) return done.success
    const fault = done.failure
    if (!(fault instanceof StorageFault)) return yield* Effect.fail(fault as Exclude<E, StorageFault>)
    // waiting does not repair a record: it ends the run, with its name
    if (retryOf(fault) !== "wait") return yield* Effect.die(fault)
    yield* Effect.logWarning(fault.message)
    yield* Effect.sleep(backoffSeconds(tries, storeBackoffMost) * 1000)
  }
})
