import { installation, InstallationBusy } from "@rangewright/domain"
import { RunJournal, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Seconds between two looks at runs that have not ended. */
const lookEverySeconds = 2

/**
 * Fails while a run changes the whole installation. For changes of ranges that are no runs (making one, giving rights on the hypervisor);
 * runs of ranges are refused by the journal itself. `doing` completes "Cannot …".
 */
export const requireInstallationAtRest = (doing: string): Effect.Effect<void, InstallationBusy | StorageFault, RunJournal> =>
  Effect.gen(function* () {
    const run = yield* (yield* RunJournal).active(installation)
    if (run !== undefined) return yield* new InstallationBusy({ doing, runId: run.id, by: run.kind })
  })

/**
 * Returns when no run of a range is unfinished: the first thing that a run about the installation does. New ones are refused from the
 * moment it was opened, so this has an end.
 */
export const untilRangesRest: Effect.Effect<void, StorageFault, RunJournal> = Effect.gen(function* () {
  const journal = yield* RunJournal
  while ((yield* journal.unfinished).some(({ subject }) => subject.type === "range")) yield* Effect.sleep(lookEverySeconds * 1000)
})
