import type { ManualClock } from "@rangewright/pve-simulator"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"

/** Effect's clock on a simulator's: a sleep ends when the simulated time has come. */
const clockOn = (time: ManualClock): Clock.Clock => {
  const nanos = (): bigint => BigInt(Math.round(time.now())) * 1_000_000n
  return {
    currentTimeMillisUnsafe: time.now,
    currentTimeMillis: Effect.sync(time.now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const cancel = time.schedule(Duration.toMillis(duration), () => resume(Effect.void))
        return Effect.sync(cancel)
      }),
  }
}

/** Turns of the event loop after which two waits count as waking each other forever. */
const restlessAfter = 100_000

/** Runs everything that can run now: fibers and promises of this process, over as many turns of the event loop as they wake each other. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < restlessAfter; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (!process.getActiveResourcesInfo().includes("Immediate")) return
  }
  throw new Error("something in this process never rests: simulated time cannot move")
}

/**
 * Runs an effect in simulated time: whenever nothing can run any more, time jumps to the next event. Hours pass in milliseconds, and the
 * same program always takes the same course. Rejects when the effect waits for something that no simulated time will bring.
 */
export const runOnSimTime = async <A, E, R>(
  time: ManualClock,
  effect: Effect.Effect<A, E, R>,
  layer: Layer.Layer<R>,
): Promise<A> => {
  let ended = false
  // each run builds the layer anew: two runs are two processes
  const program = Effect.provide(effect, layer, { local: true })
  const result = Effect.runPromise(Effect.provideService(program, Clock.Clock, clockOn(time))).finally(() => {
    ended = true
  })
  // a rejection belongs to the caller, and is not unhandled while time is still being advanced
  result.catch(() => {})
  for (let idle = 0; !ended;) {
    await settle()
    if (ended) break
    idle = time.advanceToNext() ? 0 : idle + 1
    if (idle > 200) throw new Error("the effect waits for something that no simulated time will bring")
  }
  return result
}
