import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The same clock where the time of day is so many seconds ahead, as where somebody has set it. What nobody sets goes on as it was. */
export const skewed = (clock: Clock.Clock, seconds: () => number): Clock.Clock => {
  const millis = () => clock.currentTimeMillisUnsafe() + seconds() * 1000
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(seconds()) * 1_000_000_000n
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration),
  }
}
