import type { RunId } from "@rangewright/domain"
import { RunJournal, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Seconds between two reads: another process may execute the run. */
const lookEverySeconds = 2

/** Returns when the condition holds. */
export const untilStoreSays = <R>(holds: Effect.Effect<boolean, StorageFault, R>): Effect.Effect<void, StorageFault, R> =>
  Effect.gen(function* () {
    while (!(yield* holds)) yield* Effect.sleep(lookEverySeconds * 1000)
  })

/** Returns when the run has ended or was deleted. */
export const untilEnded = (runId: RunId): Effect.Effect<void, StorageFault, RunJournal> =>
  untilStoreSays(RunJournal.use((journal) => Effect.map(journal.find(runId), (run) => run?.status !== "running")))
