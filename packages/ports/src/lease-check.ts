import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * Runs before every call of a fenced port that a worker makes, and by adapters before they send a change that waited since that call: in
 * line, or to be repeated. Costs nothing while the worker's lease is certainly in force. If the process may have been paused for longer than
 * the lease, it waits for a renewal, and dies when another worker has the run: what this worker was about to do may already be done, and
 * undone again. Outside of workers it does nothing.
 */
export const LeaseCheck = Context.Reference<Effect.Effect<void>>("rangewright/LeaseCheck", { defaultValue: () => Effect.void })
