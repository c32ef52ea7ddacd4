import { type Fault, type RunHead, type RunId, RunNotFound, SubjectBusy, type UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { RunEngine } from "@rangewright/run-engine"
import type { WorkRequest } from "@rangewright/run-engine"
import { whileAwaited } from "../operation/caller-gone.ts"

/**
 * Starts the run when those that change its subject now have ended: calls on one source queue up, they do not fail. A call
 * that nobody waits for any more leaves the queue: `SubjectBusy`.
 */
export const startAfterOthers = (request: WorkRequest, by: UserId): Effect.Effect<RunHead, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    // how the other one ended is its own caller's business, and so is that it is gone by now
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
