import {
  type Fault,
  Forbidden,
  isRunId,
  rangeOf,
  RunNotFound,
  subjectKey,
  type SubjectType,
  type User,
  type UserId,
} from "@rangewright/domain"
import { Ranges, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { requireRangeAccess } from "../access/select-range.ts"
import { RunEngine } from "@rangewright/run-engine"
import { templateBuildName } from "../template/build-run.ts"
import { isBuildOf } from "../template/running-builds.ts"

/** Who may see and steer a run, for the description of operations. */
export const runAccess = "of the run's range; who started the run, whose its source or blueprint is; else administrators"

/** What concerns everybody is for administrators alone, whoever started it: its steps name other people's accounts and ranges. */
const ofEverybody: ReadonlySet<SubjectType> = new Set<SubjectType>(["access", "installation"])

/** Those of the runs, about no range, that the user may see and steer. Asks once for each subject whose it is. */
export const followable = (runs: readonly RunRecord[], user: User): Effect.Effect<readonly RunRecord[], Fault, RunEngine> =>
  Effect.gen(function* () {
    if (user.isAdmin) return runs
    const engine = yield* RunEngine
    const owners = new Map<string, UserId | undefined>()
    for (const run of runs) {
      const key = subjectKey(run.subject)
      if (!ofEverybody.has(run.subject.type) && !owners.has(key)) owners.set(key, yield* engine.owner(run))
    }
    // ids of users are given again: a build tells the record of its user
    const startedBy = (run: RunRecord) => (run.kind === templateBuildName ? isBuildOf(run, user) : run.by === user.id)
    return runs.filter(
      (run) => !ofEverybody.has(run.subject.type) && (startedBy(run) || owners.get(subjectKey(run.subject)) === user.id),
    )
  })

/** A run, for a user who may see and steer it: whoever may use its range, or has to do with what else it is about. */
export const findRun = (runId: string, user: User): Effect.Effect<RunRecord, Fault, Ranges | RunJournal | RunEngine> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const ranges = yield* Ranges
    const run = isRunId(runId) ? yield* journal.find(runId) : undefined
    const notFound = new RunNotFound({ runId: runId.slice(0, 64) })
    if (run === undefined) return yield* notFound
    const rangeId = rangeOf(run)
    // what it is about is not for those to know who may not see it
    const forbidden = new Forbidden({
      reason: `Cannot use run ${run.id}: it is not yours`,
      hint: "GET /runs lists those that you may follow.",
    })
    if (rangeId === undefined) return (yield* followable([run], user)).length === 1 ? run : yield* forbidden
    const range = yield* ranges.find(rangeId)
    if (range === undefined) return yield* notFound
    yield* requireRangeAccess(range, user, "range-access").pipe(Effect.catchTag("Forbidden", () => Effect.fail(forbidden)))
    return run
  })
