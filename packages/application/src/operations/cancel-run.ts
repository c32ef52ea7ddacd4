import { Conflict, subjectText } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { findRun, runAccess } from "../run/find-run.ts"
import { RunEngine } from "@rangewright/run-engine"
import { TextResult } from "../wire/common.ts"
import { runStatuses } from "../wire/statuses.ts"

export const cancelRun = operation({
  id: "cancelRun",
  route: "POST /runs/{runID}/cancel",
  group: "Range",
  origin: "ours",
  does: "cancel a run",
  summary: "Start no new step of the run; running tasks finish",
  access: "range-access",
  accessNote: runAccess,
  target: "none",
  path: { runID: Schema.String },
  output: { type: "json", schema: TextResult },
  statuses: { 200: "the run is being cancelled", ...runStatuses, 409: "the run is over, or can no longer be cancelled" },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const run = yield* findRun(path.runID, user)
      if (!(yield* engine.cancel(run.id, user.id)))
        return yield* new Conflict({ what: `Cannot cancel run ${run.id}: it is over` })
      return { result: `Run ${run.id} of ${subjectText(run.subject)} is being cancelled` }
    }),
})
