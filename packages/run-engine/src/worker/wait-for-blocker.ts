import { type RunEvent, subjectKey } from "@rangewright/domain"
import { type LeaseLost, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { retryStorage } from "../retry/backoff.ts"
import { untilEnded } from "../journal/until-ended.ts"
import type { JournalWriter } from "../journal/journal-writer.ts"

/** The journal entry that says why this run waits for the other one. */
const waitingFor = ({ id, kind, subject }: RunRecord): Extract<RunEvent, { readonly type: "Waiting" }> => ({
  type: "Waiting",
  behind: id,
  reason:
    subject.type === "installation"
      ? `run ${id} (${kind}) is changing the whole installation; this run starts when that one has ended`
      : `run ${id} (${kind}) was aborted, and finishes its running steps; this run starts after that`,
})

/**
 * Waits for the runs that block this one: a run of the installation, and cancelled runs of the same range. Journals each wait. False when
 * this run was cancelled meanwhile. A run that has a plan has waited, and whatever else is unfinished now may wait for it. Safe to repeat
 * after a crash.
 */
export const waitForBlocker = Effect.fnUntraced(function* (
  head: RunRecord,
  writer: JournalWriter,
): Effect.fn.Return<boolean, LeaseLost, RunJournal> {
  const { blockedBy } = head
  if (blockedBy === undefined || writer.state().plan !== undefined) return true
  // there may be several: each was cancelled before the next one opened, so one that opened later ends this wait by its cancel
  const next = retryStorage(
    RunJournal.use((journal) =>
      Effect.map(journal.unfinished, (runs) =>
        runs.find(({ id, subject }) => id === blockedBy || (id !== head.id && subjectKey(subject) === subjectKey(head.subject))),
      ),
    ),
  )
  for (let first = yield* next; first !== undefined; first = yield* next) {
    if (writer.state().cancelRequested) return false
    yield* writer.write(waitingFor(first))
    yield* Effect.raceFirst(retryStorage(untilEnded(first.id)), writer.cancelled)
    if (writer.state().cancelRequested) return false
    yield* writer.write({ type: "Continued", reason: `run ${first.id} has ended`, behind: first.id })
  }
  return true
})
