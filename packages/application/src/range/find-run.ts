import { type Fault, isRunId, type Range, rangeOf, RunNotFound, type User } from "@rangewright/domain"
import { Ranges, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { requireRangeAccess } from "../access/select-range.ts"

/** A run and its range, for a user who may use the range. */
export const findRun = (
  runId: string,
  user: User,
): Effect.Effect<{ readonly run: RunRecord; readonly range: Range }, Fault, Ranges | RunJournal> =>
  Effect.gen(function* () {
    const run = isRunId(runId) ? yield* (yield* RunJournal).find(runId) : undefined
    const rangeId = run === undefined ? undefined : rangeOf(run)
    const range = rangeId === undefined ? undefined : yield* (yield* Ranges).find(rangeId)
    if (run === undefined || range === undefined) return yield* Effect.fail(new RunNotFound({ runId: runId.slice(0, 64) }))
    yield* requireRangeAccess(range, user, "range-access")
    return { run, range }
  })
