import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { backoffSeconds, RunEngine } from "@rangewright/run-engine"

/** Seconds between two checks for runs that no living worker holds. */
const lookEverySeconds = 15

/**
 * Continues the runs of dead workers, forever: those of this process before it restarted, and those of other processes on the same store.
 * Checks again soon when one could not be claimed.
 */
export const recoveryLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { recover } = yield* RunEngine
    const forEver = Effect.gen(function* () {
      // a defect must not end it: runs of dead workers wait for it
      const look = Effect.catchDefect(recover, (defect) => Effect.as(Effect.logError("runs could not be continued", defect), 0))
      for (let failures = 0; ;) {
        const looked = yield* Effect.result(look)
        if (Result.isFailure(looked)) yield* Effect.logWarning(looked.failure.message)
        failures = Result.isFailure(looked) ? failures + 1 : 0
        yield* Effect.sleep((failures === 0 ? lookEverySeconds : backoffSeconds(failures - 1, lookEverySeconds)) * 1000)
      }
    })
    yield* Effect.forkScoped(forEver)
  }),
)
