import { type JournalEntry, openFold, type RunEvent, type RunState } from "@rangewright/domain"
import { JournalUnreadable, LeaseLost, RunJournal, type RunRecord, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { retryStorage } from "../retry/backoff.ts"
import type { Signals } from "./signals.ts"

/** Entries per read of a journal. */
export const journalPage = 500

/** The journal of a run, for the worker that executes it. */
export interface JournalWriter {
  /**
   * Durable when it returns. Concurrent writes are stored together, in the order of the calls. Waits while the store cannot write. Fails
   * with `LeaseLost` when another worker has the run.
   */
  readonly write: (...events: readonly RunEvent[]) => Effect.Effect<void, LeaseLost>
  /** The fold of all entries so far, whoever wrote them. */
  readonly state: () => RunState
  /** Completes when a cancel was requested. */
  readonly cancelled: Effect.Effect<void>
  /** Reads what others have written, such as a cancel from another process. */
  readonly refresh: Effect.Effect<void, JournalUnreadable | StorageFault>
}

interface Pending {
  readonly events: readonly RunEvent[]
  readonly done: Deferred.Deferred<void, LeaseLost>
}

/**
 * Opens the journal for the worker of this generation and reads it. If an entry turns out to be unreadable later, the worker dies with a
 * defect.
 */
export const openJournal = Effect.fnUntraced(function* (
  { id: runId, lastSeq }: RunRecord,
  generation: number,
  signals: Signals,
): Effect.fn.Return<JournalWriter, JournalUnreadable, RunJournal | Scope.Scope> {
  const journal = yield* RunJournal
  const fold = openFold()
  const cancelled = yield* Deferred.make<void>()
  const queue = yield* Queue.unbounded<Pending>()

  const take = (entries: readonly JournalEntry[]): void => {
    for (const entry of entries) fold.push(entry)
    if (fold.state().cancelRequested) Deferred.doneUnsafe(cancelled, Effect.void)
    if (entries.length > 0) signals.notify(runId)
  }
  const refresh = Effect.gen(function* () {
    for (;;) {
      const page = yield* journal.read(runId, fold.state().lastSeq, journalPage)
      take(page)
      if (page.length < journalPage) return
    }
  })
  const append = Effect.fnUntraced(function* (events: readonly RunEvent[]) {
    const at = new Date(yield* Clock.currentTimeMillis)
    // never interrupted half-way: a stop waits for it
    const entries = yield* retryStorage(Effect.uninterruptible(journal.append(runId, generation, events, at)))
    // a cancel needs no lease and may have come in between: read in order
    if (entries[0]?.seq === fold.state().lastSeq + 1) take(entries)
    else yield* Effect.orDie(retryStorage(refresh))
  })

  yield* retryStorage(refresh)
  const read = fold.state().lastSeq
  if (read < lastSeq) return yield* new JournalUnreadable({ runId, because: `its entry ${read + 1} is missing` })
  yield* Effect.gen(function* () {
    for (;;) {
      const batch = yield* Queue.takeAll(queue)
      const exit = yield* Effect.exit(append(batch.flatMap(({ events }) => events)))
      for (const { done } of batch) Deferred.doneUnsafe(done, exit)
    }
  }).pipe(Effect.forkScoped)

  return {
    write: (...events) =>
      Effect.suspend(() => {
        if (events.length === 0) return Effect.void
        const done = Deferred.makeUnsafe<void, LeaseLost>()
        Queue.offerUnsafe(queue, { events, done })
        return Deferred.await(done)
      }),
    state: () => fold.state(),
    cancelled: Deferred.await(cancelled),
    refresh,
  }
})
