import { type LeaseLost, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { untilStored } from "./backoff.ts"
import { goesOn, untilEnded } from "./installation-gate.ts"
import type { RunBook } from "./run-book.ts"

/**
 * Waits for the run that this one was opened behind, and tells so in the journal. False when this run was cancelled while it waited. May be
 * repeated after a crash.
 */
export const waitTurn = Effect.fnUntraced(function* (
  { behind }: RunRecord,
  book: RunBook,
): Effect.fn.Return<boolean, LeaseLost, RunJournal> {
  if (behind === undefined || !(yield* untilStored(goesOn(behind)))) return true
  const by = (yield* untilStored(RunJournal.use((journal) => journal.find(behind))))?.kind ?? ""
  const reason = `run ${behind} (${by}) is changing the whole installation; this one begins when it has ended, or is aborted`
  yield* book.write({ type: "Waiting", reason, behind })
  yield* Effect.raceFirst(untilStored(untilEnded(behind)), book.cancelled)
  if (book.state().cancelRequested) return false
  yield* book.write({ type: "Continued", reason: `run ${behind} has ended`, behind })
  return true
})
