import { isFault } from "@rangewright/domain"
import { GuestAutomation, Ranges } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { inspectRouter } from "../range/inspect-router.ts"

/** Seconds between two looks at one router. */
const lookEverySeconds = 300

/** Makes one round: asks the routers of ranges in testing mode, one after another, that nobody asked for a while. */
export const routerRound = Effect.gen(function* () {
  const ranges = yield* Ranges
  for (const range of yield* ranges.list()) {
    if (range.testing.mode !== "on") continue
    const before = (yield* ranges.inspection(range.id))?.at.getTime() ?? Number.NEGATIVE_INFINITY
    if ((yield* Clock.currentTimeMillis) - before < lookEverySeconds * 1000) continue
    yield* inspectRouter(`look at the router of range ${range.id}`, range).pipe(
      // a router that is off, or that a run changes, is asked in another round
      Effect.catch((fault) => Effect.logInfo(isFault(fault) ? fault.message : fault)),
    )
  }
})

/** Looks at routers for ever, where the service speaks to machines at all. */
export const routerRoundLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const guests = yield* GuestAutomation
    if (guests.overNetwork !== true) return
    const step = Effect.andThen(Effect.sleep((lookEverySeconds / 5) * 1000), Effect.ignore(routerRound, { log: "Warn" }))
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)
