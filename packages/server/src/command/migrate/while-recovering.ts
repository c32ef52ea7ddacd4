import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"

/** Seconds between checks for the run of a dead worker, whether this command's or an earlier service's. */
const lookEverySeconds = 5

/** Waits for a run and, when no living process works on it, takes it over: a command has no background tasks for that. */
export const whileRecovering = <A, E, R>(waiting: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | RunEngine> =>
  Effect.gen(function* () {
    const { recover } = yield* RunEngine
    const recoverAgain = Effect.forever(Effect.andThen(Effect.ignore(recover), Effect.sleep(lookEverySeconds * 1000)))
    return yield* Effect.raceFirst(waiting, recoverAgain)
  })
