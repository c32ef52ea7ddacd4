import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"

/** Seconds between two looks for the run of a worker that has died: this command, or a service before it. */
const lookEverySeconds = 5

/** What waits for a run, with that run taken up where no living process works on it: a command has no background. */
export const whileRecovering = <A, E, R>(waiting: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | RunEngine> =>
  Effect.gen(function* () {
    const { recover } = yield* RunEngine
    const recoverAgain = Effect.forever(Effect.andThen(Effect.ignore(recover), Effect.sleep(lookEverySeconds * 1000)))
    return yield* Effect.raceFirst(waiting, recoverAgain)
  })
