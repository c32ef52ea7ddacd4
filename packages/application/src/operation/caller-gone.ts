import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * Completes when nobody waits for the answer any more: the client has disconnected, or the service is about to stop. For work that waits
 * before it changes anything; changes that were begun are completed. Never completes without a caller.
 */
export const CallerGone = Context.Reference<Effect.Effect<void>>("rangewright/CallerGone", {
  defaultValue: () => Effect.never,
})

/** Runs work that changes nothing yet, and stops it with this failure when nobody waits for the answer any more. */
export const whileAwaited = <A, E, R, F>(work: Effect.Effect<A, E, R>, failure: F): Effect.Effect<A, E | F, R> =>
  Effect.flatMap(CallerGone, (gone) => Effect.raceFirst(work, Effect.andThen(gone, Effect.fail(failure))))
