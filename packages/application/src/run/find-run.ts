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

/** Who may see and control a run, for the description of operations. */
export const runAccess =
  "of the run's range; for other runs who started it, the owner of its source or blueprint, and administrators"

/** Runs that concern everybody are for administrators alone, whoever started them: their steps name other people's accounts and ranges. */
const ofEverybody: ReadonlySet<SubjectType> = new Set<SubjectType>(["access", "installation"])

/** The runs among these, none of them of a range, that the user may see and control. Asks for the owner once per subject. */
export const followable = (runs: readonly RunRecord[], user: User): Effect.Effect<readonly RunRecord[], Fault, RunEngine> =>
  Effect.gen(function* () {
    if (user.isAdmin) return runs
    const engine = yield* RunEngine
    const owners = new Map<string, UserId | undefined>()
    for (const run of runs) {
      const key = subjectKey(run.subject)
      if (!ofEverybody.has(run.subject.type) && !owners.has(key)) owners.set(key, yield* engine.owner(run))
    }
    // user IDs are reused, so a build is matched by the record of its user
    const startedBy = (run: RunRecord) => (run.kind === templateBuildName ? isBuildOf(run, user) : run.by === user.id)
    return runs.filter(
      (run) => !ofEverybody.has(run.subject.type) && (startedBy(run) || owners.get(subjectKey(run.subject)) === user.id),
    )
  })

/** A run, for a user who may see and control it: anybody who may use its range, or for other runs those that `followable` admits. */
export const findRun = (runId: string, user: User): Effect.Effect<RunRecord, Fault, Ranges | RunJournal | RunEngine> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const ranges = yield* Ranges
    const run = isRunId(runId) ? yield* journal.find(runId) : undefined
    const notFound = new RunNotFound({ runId: runId.slice(0, 64) })
    if (run === undefined) return yield* notFound
    const rangeId = rangeOf(run)
    // does not tell a user without access what the run is about
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
