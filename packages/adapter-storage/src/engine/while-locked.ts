import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { isLocked, storageFault } from "./storage-fault.ts"

/** How long a call waits for a lock of another process. */
const patience = "5 seconds"

/**
 * SQLite's own waiting for a lock blocks the whole process. So calls do not wait: they fail at once and are retried, quickly at first and
 * then forty times a second, while everything else continues.
 */
const pauses = Schedule.min([Schedule.exponential("1 millis"), Schedule.spaced("25 millis")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ duration: patience }),
)

/** Retries an effect that failed because another process holds a lock. A failed attempt must leave nothing behind. */
export const againWhileLocked = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  causeOf: (fault: E) => unknown,
): Effect.Effect<A, E, R> => Effect.retry(effect, { schedule: pauses, while: (fault) => isLocked(causeOf(fault)) })

/** A read that answers in the same turn of the event loop, unless another process holds a lock. */
export const readNow = <A>(doing: string, read: () => A): Effect.Effect<A, StorageFault> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (first) {
      if (!isLocked(first)) return Effect.fail(storageFault(doing, first))
      const again = Effect.try({ try: read, catch: (cause) => ({ cause }) })
      return Effect.mapError(
        againWhileLocked(again, ({ cause }) => cause),
        ({ cause }) => storageFault(doing, cause),
      )
    }
  })
