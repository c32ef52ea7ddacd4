import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Effect's clock on the machine's, so many times as fast: for programs that talk over real sockets to a simulator of the same speed. */
export const fastClock = (speed: number): Clock.Clock => {
  const origin = Date.now()
  const started = performance.now()
  const millis = (): number => Math.round(origin + (performance.now() - started) * speed)
  const nanos = (): bigint => BigInt(millis()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration) / speed)
        return Effect.sync(() => clearTimeout(timer))
      }),
  }
}
