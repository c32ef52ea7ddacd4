import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * Milliseconds of the host's monotonic clock, for measuring durations. All processes on a host share it; it starts anew when the host
 * reboots.
 */
export const monotonicMillis: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))
