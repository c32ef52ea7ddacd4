import { type Fault, Forbidden, isRunId, mayUse, type Range, RunNotFound, type User } from "@rangewright/domain"
import { Ranges, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** A run and its range, for a user who may use the range. */
export const findRun = (
  runId: string,
  user: User,
): Effect.Effect<{ readonly run: RunRecord; readonly range: Range }, Fault, Ranges | RunJournal> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const run = isRunId(runId) ? yield* (yield* RunJournal).find(runId) : undefined
    const range = run === undefined ? undefined : yield* ranges.find(run.rangeId)
    if (run === undefined || range === undefined) return yield* Effect.fail(new RunNotFound({ runId: runId.slice(0, 64) }))
    if (!mayUse("range-access", user, yield* ranges.grants(range.id)))
      return yield* Effect.fail(
        new Forbidden({ reason: `Cannot use run ${run.id}: user ${user.id} has no access to range ${range.id}` }),
      )
    return { run, range }
  })
