import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { longRead } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { findRun, runAccess } from "../run/find-run.ts"
import { isResumableBy } from "../run/may-resume.ts"
import { RunEngine } from "@rangewright/run-engine"
import { runObject, RunObject } from "../wire/run.ts"
import { runStatuses } from "../wire/statuses.ts"

export const getRun = operation({
  id: "getRun",
  route: "GET /runs/{runID}",
  group: "Range",
  origin: "ours",
  does: "read a run",
  summary: "A run with its steps: state, timing, estimates, failures",
  access: "range-access",
  accessNote: runAccess,
  target: "none",
  path: { runID: Schema.String },
  output: { type: "json", schema: RunObject },
  statuses: { 200: "where the run stands", ...runStatuses },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const engine = yield* RunEngine
      const run = yield* findRun(path.runID, user)
      const now = new Date(yield* Clock.currentTimeMillis)
      return yield* longRead(
        Effect.flatMap(engine.state(run.id), (state) =>
          Effect.map(isResumableBy({ ...run, status: state.status }, user), (mayResume) =>
            runObject(run, state, { now, mayResume }),
          ),
        ),
      )
    }),
})
