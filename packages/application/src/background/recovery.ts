import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunEngine } from "../run/run-engine.ts"

/** Seconds between two looks for runs that no living worker holds. */
const lookEverySeconds = 15

/** Goes on with the runs of workers that died, for ever: of this process before its start, and of others that share the store. */
export const recoveryLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { recover } = yield* RunEngine
    const step = Effect.andThen(Effect.ignore(recover, { log: "Warn" }), Effect.sleep(lookEverySeconds * 1000))
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)
