import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { findRun } from "../range/find-run.ts"
import { RunEngine } from "../run/run-engine.ts"
import { hypervisorAway, runStatuses } from "../wire/statuses.ts"

export const resumeRun = operation({
  id: "resumeRun",
  route: "POST /runs/{runID}/resume",
  group: "Range",
  origin: "ours",
  summary: "Repeat a failed or aborted run from where it stands, as a new run",
  access: "range-access",
  accessNote: "of the run's range",
  target: "none",
  path: { runID: Schema.String },
  output: {
    type: "json",
    schema: Schema.Struct({ result: Schema.String, runID: Schema.String }).annotate({ identifier: "RunStarted" }),
  },
  statuses: {
    200: "a new run was started",
    ...runStatuses,
    409: "the run goes on or succeeded; another run is changing the range; the range cannot be planned",
    502: hypervisorAway,
  },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const { run, range } = yield* findRun(path.runID, user)
      const next = yield* (yield* RunEngine).resume(range, run.id, user.id)
      return { result: `Run ${run.id} of range ${range.id} resumed as run ${next.id}`, runID: next.id }
    }),
})
