import { type Fault, type JournalEntry, type RunHead, type RunId, RunNotFound, type RunState } from "@rangewright/domain"
import { JournalUnreadable, type RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { journalPage } from "./journal-writer.ts"
import type { Signals } from "./signals.ts"

/** Seconds between two reads of a run that another process executes. */
const pollSeconds = 2

/** The final states of runs whose journals were deleted with their range. */
export type RemovedRuns = ReadonlyMap<RunId, { readonly head: RunHead; readonly state: RunState }>

/** The journal after `afterSeq`, then live, to its last entry. Reads page by page, no faster than the reader. */
export const followRun = (
  journal: RunJournal["Service"],
  signals: Signals,
  removed: RemovedRuns,
  removesSubject: (kind: string) => boolean,
  runId: RunId,
  afterSeq: number,
): Stream.Stream<JournalEntry, Fault> => {
  type Page = readonly [readonly JournalEntry[], Option.Option<number>]
  let seen: RunHead["kind"] | undefined

  const gone = (seq: number): Effect.Effect<Page, RunNotFound> => {
    const end = removed.get(runId)
    if (end === undefined && seen === undefined) return Effect.fail(new RunNotFound({ runId }))
    const lastSeq = Math.max(seq, end?.state.lastSeq ?? 0) + 1
    if (afterSeq >= lastSeq) return Effect.succeed([[], Option.none()])
    // only a successful removal of the range deletes journals: its own, and those of the runs that waited behind it
    const event = removesSubject(end?.head.kind ?? seen ?? "")
      ? { type: "Ended" as const, status: "success" as const, message: "" }
      : { type: "Ended" as const, status: "aborted" as const, message: "the range was removed before this run started" }
    const at = end?.state.endedAt ?? new Date(0)
    return Effect.succeed([[{ seq: lastSeq, at, event }], Option.none()])
  }

  const page = Effect.fnUntraced(function* (seq: number): Effect.fn.Return<Page, Fault, Scope.Scope> {
    const grown = yield* signals.listen(runId)
    for (let promised = seq; ;) {
      yield* grown.close
      const entries = yield* journal.read(runId, seq, journalPage)
      const last = entries.at(-1)
      if (last !== undefined) return [entries, last.event.type === "Ended" ? Option.none() : Option.some(last.seq)]
      const record = yield* journal.find(runId)
      if (record === undefined) return yield* gone(seq)
      seen = record.kind
      if (promised > seq) return yield* new JournalUnreadable({ runId, because: `its entry ${seq + 1} is missing` })
      promised = record.lastSeq
      if (promised > seq) continue
      if (record.status !== "running") return [[], Option.none()]
      yield* Effect.raceFirst(grown.await, Effect.sleep(pollSeconds * 1000))
    }
  }, Effect.scoped)

  return Stream.paginate(afterSeq, page)
}
