import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * Completes when nobody waits for the answer any more: the client has gone, or the service is about to stop. For work that waits before it
 * changes anything; what was begun is carried through. Without a caller that could leave: never.
 */
export const CallerGone = Context.Reference<Effect.Effect<void>>("rangewright/CallerGone", {
  defaultValue: () => Effect.never,
})
