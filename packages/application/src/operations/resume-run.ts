import { subjectText } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { findRun, runAccess } from "../run/find-run.ts"
import { RunEngine } from "@rangewright/run-engine"
import { hypervisorAway, runStatuses } from "../wire/statuses.ts"

export const resumeRun = operation({
  id: "resumeRun",
  route: "POST /runs/{runID}/resume",
  group: "Range",
  origin: "ours",
  does: "resume a run",
  summary: "Resume a failed or aborted run from where it stopped, as a new run",
  access: "range-access",
  accessNote: runAccess,
  target: "none",
  path: { runID: Schema.String },
  output: {
    type: "json",
    schema: Schema.Struct({ result: Schema.String, runID: Schema.String }).annotate({ identifier: "RunStarted" }),
  },
  statuses: {
    200: "a new run was started",
    ...runStatuses,
    409: "the run is not over or succeeded; another run is changing the same object; it cannot be planned",
    502: hypervisorAway,
  },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const run = yield* findRun(path.runID, user)
      const next = yield* engine.resume(run.id, user.id)
      return { result: `Run ${run.id} of ${subjectText(run.subject)} resumed as run ${next.id}`, runID: next.id }
    }),
})
