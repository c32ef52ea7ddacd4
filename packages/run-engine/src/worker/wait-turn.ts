import { type RunEvent, subjectKey } from "@rangewright/domain"
import { type LeaseLost, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { untilStored } from "../retry/backoff.ts"
import { untilEnded } from "../journal/until-ended.ts"
import type { RunBook } from "../journal/run-book.ts"

/** Why this run has to wait for the other one, and how its journal says so. */
const waitFor = ({ id, kind, subject }: RunRecord): Extract<RunEvent, { readonly type: "Waiting" }> => ({
  type: "Waiting",
  behind: id,
  reason:
    subject.type === "installation"
      ? `run ${id} (${kind}) is changing the whole installation; this run begins when that one has ended`
      : `run ${id} (${kind}) was aborted, and ends what it had begun; this run begins when that is over`,
})

/**
 * Waits for the runs that this one was opened behind, one of the installation and cancelled ones of the same range, and tells so in the
 * journal. False when this run was cancelled while it waited. May be repeated after a crash.
 */
export const waitTurn = Effect.fnUntraced(function* (
  head: RunRecord,
  book: RunBook,
): Effect.fn.Return<boolean, LeaseLost, RunJournal> {
  const { behind } = head
  if (behind === undefined) return true
  // whichever run it was opened behind, there may be others before that: each was cancelled before the next one opened
  const next = untilStored(
    RunJournal.use((journal) =>
      Effect.map(journal.unfinished, (runs) =>
        runs.find(({ id, subject }) => id === behind || (id !== head.id && subjectKey(subject) === subjectKey(head.subject))),
      ),
    ),
  )
  for (let first = yield* next; first !== undefined; first = yield* next) {
    if (book.state().cancelRequested) return false
    yield* book.write(waitFor(first))
    yield* Effect.raceFirst(untilStored(untilEnded(first.id)), book.cancelled)
    if (book.state().cancelRequested) return false
    yield* book.write({ type: "Continued", reason: `run ${first.id} has ended`, behind: first.id })
  }
  return true
})
