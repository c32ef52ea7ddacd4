import type { Fault, Range, RunState, UserId } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { endOfRun, HypervisorAway, RunEngine } from "@rangewright/run-engine"
import { type RunRequest, rangeRequest } from "../run/request.ts"
import { inStartTurn } from "../run/start-turns.ts"

/**
 * Starts a run and waits for its success. `doing` completes "Cannot …". Fails at once while the hypervisor is known to be away, and when it
 * goes away on the way; the run itself then goes on. Callers that leave do not end the run.
 */
export const runToEnd = (
  doing: string,
  range: Range,
  request: RunRequest,
  by: UserId,
): Effect.Effect<RunState, Fault, RunEngine | Machines> =>
  Effect.gen(function* () {
    const { awaySince, awayReason } = yield* (yield* Machines).freshness
    if (awaySince !== undefined)
      return yield* Effect.fail(
        new HypervisorAway({ doing, because: `since ${awaySince.toISOString()}: ${awayReason ?? "it does not answer"}` }),
      )
    const head = yield* inStartTurn((yield* RunEngine).start(rangeRequest(range, request), by))
    return yield* endOfRun(doing, head.id)
  })
