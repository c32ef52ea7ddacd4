import { type LeaseLost, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { untilStored } from "./backoff.ts"
import { untilEnded } from "./installation-gate.ts"
import type { RunBook } from "./run-book.ts"

/**
 * Waits for the run that this one was opened behind, and tells so in the journal. False when this run was cancelled while it waited. May be
 * repeated after a crash.
 */
export const waitTurn = Effect.fnUntraced(function* (
  { behind }: RunRecord,
  book: RunBook,
): Effect.fn.Return<boolean, LeaseLost, RunJournal> {
  if (behind === undefined) return true
  const over = yield* untilStored(RunJournal.use((journal) => journal.find(behind)))
  if (over?.status !== "running") return true
  const reason = `run ${behind} (${over.kind}) is changing the whole installation; this run begins when that one has ended`
  yield* book.write({ type: "Waiting", reason, behind })
  yield* Effect.raceFirst(untilStored(untilEnded(behind)), book.cancelled)
  if (book.state().cancelRequested) return false
  yield* book.write({ type: "Continued", reason: `run ${behind} has ended`, behind })
  return true
})
