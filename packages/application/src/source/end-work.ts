import { type Fault, RunNotFound, type Source, type UserId } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { RunEngine } from "@rangewright/run-engine"
import { sourceSubject } from "./source-subject.ts"

/** Most runs to cancel: those that start meanwhile are cancelled too, but not without end. */
const mostRuns = 32

/** Cancels the runs of a source and waits until they have ended: a server that hangs must not keep a source from being deleted. */
export const endWorkOn = Effect.fnUntraced(function* (
  source: Source,
  by: UserId,
): Effect.fn.Return<void, Fault, RunEngine | RunJournal> {
  const engine = yield* RunEngine
  const journal = yield* RunJournal
  const end = (runId: Parameters<typeof engine.wait>[0]) =>
    Effect.andThen(engine.cancel(runId, by), engine.wait(runId)).pipe(
      Effect.catchIf(
        (fault) => fault instanceof RunNotFound,
        () => Effect.void,
      ),
    )
  for (let ended = 0; ended < mostRuns; ended++) {
    const active = yield* journal.active(sourceSubject(source.recordId))
    if (active === undefined) return
    yield* end(active.id)
  }
})
