import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * Completes when nobody waits for the answer any more: the client has gone, or the service is about to stop. For work that waits before it
 * changes anything; what was begun is carried through. Without a caller that could leave: never.
 */
export const CallerGone = Context.Reference<Effect.Effect<void>>("rangewright/CallerGone", {
  defaultValue: () => Effect.never,
})

/** Work that changes nothing yet: it is stopped, and this is the failure, when nobody waits for the answer any more. */
export const whileAwaited = <A, E, R, F>(work: Effect.Effect<A, E, R>, failure: F): Effect.Effect<A, E | F, R> =>
  Effect.flatMap(CallerGone, (gone) => Effect.raceFirst(work, Effect.andThen(gone, Effect.fail(failure))))
