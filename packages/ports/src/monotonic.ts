import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * Milliseconds of a clock that nobody sets, for measuring how long something lasts. All processes of a host share it; it begins anew when
 * the host does.
 */
export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))
