import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A clock whose durations are `scale` times shorter; the time of day is unchanged. */
const scaled = (clock: Clock.Clock, scale: number): Clock.Clock => {
  const nanos = (): bigint => BigInt(Math.round(Number(clock.monotonicTimeNanosUnsafe()) * scale))
  return {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
    currentTimeMillis: clock.currentTimeMillis,
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => clock.sleep(Duration.millis(Duration.toMillis(duration) / scale)),
  }
}

/** Runs an effect, and the fibers it forks, with time `scale` times as fast. */
export const atScale =
  (scale: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    scale === 1
      ? effect
      : Effect.flatMap(Clock.clockWith(Effect.succeed), (clock) =>
          Effect.provideService(effect, Clock.Clock, scaled(clock, scale)),
        )

/** A service whose methods all run at that scale. */
export const serviceAtScale = <S extends object>(service: S, scale: number): S => {
  if (scale === 1) return service
  const wrap = (value: unknown): unknown => {
    if (Effect.isEffect(value)) return atScale(scale)(value)
    return typeof value === "function" ? (...args: readonly unknown[]) => wrap(Reflect.apply(value, service, args)) : value
  }
  return Object.fromEntries(Object.entries(service).map(([name, value]) => [name, wrap(value)])) as S
}
