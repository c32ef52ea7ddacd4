import { installation, InstallationBusy } from "@rangewright/domain"
import { RunJournal, type RunRecord, type StorageFault } from "@rangewright/ports"
import { untilEnded, untilStoreSays } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { CallerGone } from "../operation/caller-gone.ts"

/**
 * Runs `check` while no run changes the whole installation, for changes of ranges that are not runs themselves (creating one, granting
 * rights on the hypervisor). While such a run is active, this waits and then checks again, with `waited` true: what the caller knew may
 * have changed. A check that fails ends the wait at once, and so does one that finds nothing to do (`concerns`). The caller must not have
 * changed anything yet: if it disconnects or the service stops, the wait fails with `InstallationBusy`. `doing` completes "Cannot …".
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
      // read before the check, so that its result is newer than the last change of the installation
      const run = yield* journal.active(installation)
      const found = yield* check(waited)
      if (run === undefined || !concerns(found)) return found
      const cutShort = Effect.andThen(gone, Effect.fail(new InstallationBusy({ doing, runId: run.id, by: run.kind })))
      yield* Effect.raceFirst(untilEnded(run.id), cutShort)
    }
  })

/** The runs of ranges that a run of the installation must wait for: not those that wait for it themselves. */
export const blockingRangeRuns = (unfinished: readonly RunRecord[]): readonly RunRecord[] => {
  const ids = new Set(unfinished.map(({ id }) => id))
  return unfinished.filter(
    ({ subject, blockedBy }) => subject.type === "range" && (blockedBy === undefined || !ids.has(blockedBy)),
  )
}

/**
 * Returns when no run of a range is active, except those that wait for this run's end. It is the first thing that a run of the installation
 * does. Runs of ranges that open later wait, so this ends.
 */
export const waitForRangeRuns: Effect.Effect<void, StorageFault, RunJournal> = untilStoreSays(
  RunJournal.use((journal) => Effect.map(journal.unfinished, (runs) => blockingRangeRuns(runs).length === 0)),
)
