import type { Fault, Range, RunState, UserId } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { endOfRun, HypervisorAway, RunEngine, type StartedRun } from "@rangewright/run-engine"
import { type RunRequest, rangeRequest } from "../run/request.ts"
import { inStartTurn } from "../run/start-turns.ts"

/** Starts a run, unless the hypervisor is known to be unreachable. `doing` completes "Cannot …". */
export const startRun = (
  doing: string,
  range: Range,
  request: RunRequest,
  by: UserId,
): Effect.Effect<StartedRun, Fault, RunEngine | Machines> =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const engine = yield* RunEngine
    const { awaySince, awayReason } = yield* machines.freshness
    if (awaySince !== undefined)
      return yield* new HypervisorAway({
        doing,
        because: `since ${awaySince.toISOString()}: ${awayReason ?? "it does not answer"}`,
      })
    return yield* inStartTurn(engine.start(rangeRequest(range, request), by))
  })

/**
 * Starts a run and waits for its success. Fails at once when the hypervisor is known to be unreachable, and when it becomes unreachable
 * later; the run itself then continues. Callers that leave do not end the run.
 */
export const runToEnd = (
  doing: string,
  range: Range,
  request: RunRequest,
  by: UserId,
): Effect.Effect<RunState, Fault, RunEngine | Machines> =>
  Effect.flatMap(startRun(doing, range, request, by), ({ id }) => endOfRun(doing, id))
