import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** The same clock with a time of day this many seconds ahead, as if somebody had set it. Its monotonic time is unchanged. */
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
