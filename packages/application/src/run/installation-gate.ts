import { installation, InstallationBusy } from "@rangewright/domain"
import { RunJournal, type RunRecord, type StorageFault } from "@rangewright/ports"
import { untilEnded, untilStoreSays } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { CallerGone } from "../operation/caller-gone.ts"

/**
 * What is there for a change of ranges that is no run (making one, giving rights on the hypervisor), at a moment when no run changes the
 * whole installation. While one does, this waits, and then checks anew, `waited` being true: what the caller knew may have changed. A check
 * that fails answers at once, as does one that finds nothing to do (`concerns`). Nothing may have been changed before, for a caller that
 * leaves and a service that stops end the wait: `InstallationBusy`. `doing` completes "Cannot …".
 */
export const whenInstallationIdle = <A, E, R>(
  doing: string,
  check: (waited: boolean) => Effect.Effect<A, E, R>,
  concerns: (found: A) => boolean = () => true,
): Effect.Effect<A, E | InstallationBusy | StorageFault, R | RunJournal> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    const gone = yield* CallerGone
    for (let waited = false; ; waited = true) {
      // asked before the check: what that finds is then newer than the last change of the installation
      const run = yield* journal.active(installation)
      const found = yield* check(waited)
      if (run === undefined || !concerns(found)) return found
      const cutShort = Effect.andThen(gone, Effect.fail(new InstallationBusy({ doing, runId: run.id, by: run.kind })))
      yield* Effect.raceFirst(untilEnded(run.id), cutShort)
    }
  })

/** Of these unfinished runs, those of ranges that do not themselves wait for another one of them. */
export const blockingRangeRuns = (unfinished: readonly RunRecord[]): readonly RunRecord[] => {
  const ids = new Set(unfinished.map(({ id }) => id))
  return unfinished.filter(({ subject, behind }) => subject.type === "range" && (behind === undefined || !ids.has(behind)))
}

/**
 * Returns when no run of a range goes on, but for those that wait for this one's end: the first thing that a run about the installation
 * does. A run of a range that opens later waits, so this has an end.
 */
export const waitForRangeRuns: Effect.Effect<void, StorageFault, RunJournal> = untilStoreSays(
  RunJournal.use((journal) => Effect.map(journal.unfinished, (runs) => blockingRangeRuns(runs).length === 0)),
)
