import type { Fault } from "@rangewright/domain"
import { monotonicMillis, retryOf } from "@rangewright/ports"
import { backoffSeconds, makeMayPass } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"

/** Most seconds between two attempts. */
const backoffMost = 10

/**
 * Retries after faults that may pass, as often as a step of a run would. `while-reached`: not while the hypervisor is unreachable, since
 * the caller's step waits for that itself. `until`, by `monotonicMillis`: retries while it is unreachable until then.
 */
export const insist = <A, E extends Fault, R>(
  effect: Effect.Effect<A, E, R>,
  how: "always" | "while-reached" | { readonly until: number } = "always",
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const passes = makeMayPass()
    const mayPass = (fault: Fault): boolean => (how !== "while-reached" || retryOf(fault) !== "wait") && passes(fault)
    const attempt = (n: number): Effect.Effect<A, E, R> => Effect.catchIf(effect, mayPass, (fault) => again(fault as E, n))
    const again = (fault: E, n: number): Effect.Effect<A, E, R> =>
      Effect.flatMap(monotonicMillis, (now) => {
        const left = typeof how === "object" && retryOf(fault) === "wait" ? how.until - now : Number.POSITIVE_INFINITY
        if (left <= 0) return Effect.fail(fault)
        return Effect.andThen(Effect.sleep(Math.min(backoffSeconds(n, backoffMost) * 1000, left)), attempt(n + 1))
      })
    return attempt(0)
  })
