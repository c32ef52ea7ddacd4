import type { Fault, RunId, User } from "@rangewright/domain"
import { RunJournal, type RunRecord, Users } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { builderOf, buildRequestOf, templateBuildName } from "./build-run.ts"

/** An unfinished build of a template. */
export interface RunningBuild {
  readonly run: RunRecord
  readonly template: string
  /** Undefined: the user was removed meanwhile. */
  readonly by: User | undefined
}

/** The unfinished builds of all users, newest first, including those that wait for their turn. */
export const runningBuilds = Effect.gen(function* () {
  const journal = yield* RunJournal
  const userStore = yield* Users
  const unfinished = (yield* journal.recoverable).filter(({ kind }) => kind === templateBuildName)
  if (unfinished.length === 0) return []
  const users = yield* userStore.list
  return unfinished.flatMap((run): readonly RunningBuild[] => {
    const request = buildRequestOf(run)
    const by = users.find(({ recordId }) => recordId === builderOf(run))
    return request._tag === "Some" ? [{ run, template: request.value.template, by }] : []
  })
})

/** Whether a build waits for its turn, or is running. */
export const buildPhase = (runId: RunId): Effect.Effect<"queued" | "running", Fault, RunEngine> =>
  Effect.map(
    Effect.flatMap(RunEngine, (engine) => engine.state(runId)),
    ({ steps }) => ([...steps.values()].some(({ attempt }) => attempt > 0) ? "running" : "queued"),
  )

/** Whether the build is the user's. User IDs are reused, record IDs are not. */
export const isBuildOf = (run: RunRecord, user: User): boolean => builderOf(run) === user.recordId

/** The newest builds of a user, finished ones too. */
export const buildsOf = Effect.fnUntraced(function* (user: User, limit: number) {
  const journal = yield* RunJournal
  const runs = yield* journal.list({ types: ["template"], kinds: [templateBuildName], limit: mostLookedAt })
  return runs.filter((run) => isBuildOf(run, user)).slice(0, limit)
})

/** Most builds of all users that are searched for a user's. */
const mostLookedAt = 5000
