import { type Fault, type RunHead, type RunId, RunNotFound, SubjectBusy, type UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { RunEngine } from "@rangewright/run-engine"
import type { WorkRequest } from "@rangewright/run-engine"
import { whileAwaited } from "../operation/caller-gone.ts"

/**
 * Starts the run once the current runs of its subject have ended: calls on one source queue up instead of failing. A call that nobody waits
 * for any more leaves the queue with `SubjectBusy`.
 */
export const startAfterOthers = (request: WorkRequest, by: UserId): Effect.Effect<RunHead, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    // how the other run ended, or that it is gone by now, only concerns its own caller
    const otherEnds = (runId: RunId) => engine.wait(runId).pipe(Effect.catchIf(isGone, () => Effect.void))
    for (;;) {
      const started = yield* Effect.result(engine.start(request, by))
      if (Result.isSuccess(started)) return started.success
      const fault = started.failure
      if (!(fault instanceof SubjectBusy)) return yield* Effect.fail(fault)
      yield* whileAwaited(otherEnds(fault.facts.runId as RunId), fault)
    }
  })

const isGone = (fault: Fault): boolean => fault instanceof RunNotFound
