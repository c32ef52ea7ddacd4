import type { Fault } from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { RunEngine } from "@rangewright/run-engine"

/**
 * A run as the log history shows it: a run that was asked to stop counts as over for clients from then on, although steps in flight still
 * settle. `GET /runs/{id}` shows the settling.
 */
export const shownInHistory = (run: RunRecord): Effect.Effect<RunRecord, Fault, RunEngine> =>
  run.status !== "running"
    ? Effect.succeed(run)
    : Effect.map(
        Effect.flatMap(RunEngine, (engine) => engine.state(run.id)),
        ({ cancelRequestedAt }) =>
          cancelRequestedAt === undefined ? run : { ...run, status: "aborted", endedAt: cancelRequestedAt },
      )
