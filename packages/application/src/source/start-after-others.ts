import { type Fault, type RunHead, type RunId, RunNotFound, SubjectBusy, type UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { RunEngine } from "@rangewright/run-engine"
import type { WorkRequest } from "@rangewright/run-engine"

/** Starts the run when those that change its subject now have ended: calls on one source queue up, they do not fail (contract C 4.4). */
export const startAfterOthers = (request: WorkRequest, by: UserId): Effect.Effect<RunHead, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    // how the other one ended is its own caller's business, and so is that it is gone by now
    const otherEnds = (runId: RunId) => engine.wait(runId).pipe(Effect.catchIf(isGone, () => Effect.void))
    return yield* engine.start(request, by).pipe(
      Effect.tapError((fault) => (fault instanceof SubjectBusy ? otherEnds(fault.facts.runId as RunId) : Effect.void)),
      Effect.retry({ while: (fault) => fault instanceof SubjectBusy }),
    )
  })

const isGone = (fault: Fault): boolean => fault instanceof RunNotFound
