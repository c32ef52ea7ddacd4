import { type Fault, type RunHead, type RunId, SubjectBusy, type UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { RunEngine } from "../run/run-engine.ts"
import type { WorkRequest } from "../run/run-kind.ts"

/** Runs that one call waits for; more are a crowd that it is better told of. */
const mostWaits = 20

/** Starts the run when those that change its subject now have ended: calls on one source queue up, they do not fail (contract C 4.4). */
export const startAfterOthers = (request: WorkRequest, by: UserId): Effect.Effect<RunHead, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    return yield* engine.startWork(request, by).pipe(
      Effect.tapError((fault) =>
        // how the other one ended is its own caller's business
        fault instanceof SubjectBusy ? Effect.ignore(engine.wait(fault.facts.runId as RunId)) : Effect.void,
      ),
      Effect.retry({ times: mostWaits, while: (fault) => fault instanceof SubjectBusy }),
    )
  })
