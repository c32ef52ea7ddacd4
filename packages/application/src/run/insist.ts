import type { Fault } from "@rangewright/domain"
import { retryOf } from "@rangewright/ports"
import { backoffSeconds, makeMayPass } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"

/** Most seconds between two tries. */
const backoffMost = 10

/**
 * Tries again what may pass, as long as a step of a run would. `while-reached`: not while the hypervisor is away, for which the caller's step
 * waits itself.
 */
export const insist = <A, E extends Fault, R>(
  effect: Effect.Effect<A, E, R>,
  how: "always" | "while-reached" = "always",
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const passes = makeMayPass()
    const mayPass = (fault: Fault): boolean => (how === "always" || retryOf(fault) !== "wait") && passes(fault)
    const attempt = (n: number): Effect.Effect<A, E, R> =>
      Effect.catchIf(effect, mayPass, () => Effect.andThen(Effect.sleep(backoffSeconds(n, backoffMost) * 1000), attempt(n + 1)))
    return attempt(0)
  })
