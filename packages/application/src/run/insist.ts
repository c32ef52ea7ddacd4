import type { Fault } from "@rangewright/domain"
import { backoffSeconds, makeMayPass } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"

/** Most seconds between two tries. */
const backoffMost = 10

/** Tries again what may pass, as long as a step of a run would. */
export const insist = <A, E extends Fault, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const mayPass = makeMayPass()
    const attempt = (n: number): Effect.Effect<A, E, R> =>
      Effect.catchIf(effect, mayPass, () => Effect.andThen(Effect.sleep(backoffSeconds(n, backoffMost) * 1000), attempt(n + 1)))
    return attempt(0)
  })
