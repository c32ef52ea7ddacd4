import {
  installation,
  type JournalEntry,
  RangeNotFound,
  rangeOf,
  readRunEvent,
  type RunId,
  subjectKey,
} from "@rangewright/domain"
import { JournalUnreadable, LeaseLost, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import { journalEntries, toRun } from "../records/run.ts"
import { DamagedRow, every, first, type StoredRow } from "../schema/table.ts"
import { leasesIn } from "./lease.ts"
import { listRuns } from "./list-runs.ts"
import { pruneRuns } from "./prune-runs.ts"
import { countEnded, selectUnfinished } from "./run-queries.ts"
import { refuseDeployOverQuota } from "./quota-facts.ts"
import { makeRoom, unfinishedRun } from "./refuse-busy.ts"
import { lockRange, keepDeployedConfig, lockRun, setRangeState, decodedRun, writeEntries } from "./run-writes.ts"

const readEntry = journalEntries.reader()

/** The entry, or why it cannot be read. */
const toEntry = (row: StoredRow): JournalEntry | Omit<JournalUnreadable["facts"], "runId"> => {
  try {
    const { seq, at, event: text } = readEntry(row)
    const event = readRunEvent(text)
    if (event === "damaged") return { because: `its entry ${seq} is damaged: it is not an event` }
    if (event === "newer") return { because: `a newer version of the service wrote its entry ${seq}`, newer: true }
    return { seq, at, event }
  } catch (cause) {
    if (cause instanceof DamagedRow) return { because: cause.message }
    throw cause
  }
}

/** The entries of a run after `afterSeq`, without gaps. */
const journalOf = (
  runId: RunId,
  afterSeq: number,
  read: readonly ReturnType<typeof toEntry>[],
): Effect.Effect<readonly JournalEntry[], JournalUnreadable> => {
  const entries: JournalEntry[] = []
  let next = Math.max(0, Math.trunc(afterSeq)) + 1
  for (const entry of read) {
    if ("because" in entry) return Effect.fail(new JournalUnreadable({ runId, ...entry }))
    if (entry.seq !== next) return Effect.fail(new JournalUnreadable({ runId, because: `its entry ${next} is missing` }))
    entries.push(entry)
    next += 1
  }
  return Effect.succeed(entries)
}

/** Locks the run for a write of this generation; `LeaseLost` when it must not write. */
const requireLease = (tx: Transaction, runId: RunId, generation: number) =>
  Effect.gen(function* () {
    const run = yield* lockRun(tx, runId)
    return run === undefined || run.status !== "running" || run.generation !== generation
      ? yield* new LeaseLost({ what: `run ${runId}`, generation })
      : run
  })

export const runJournalLayer: Layer.Layer<RunJournal, never, Database> = Layer.effect(
  RunJournal,
  Effect.gen(function* () {
    const database = yield* Database
    const entries = database.prepared(
      "read a journal",
      "select * from journal_entries where run_id = ? and seq > ? order by seq limit ?",
      every(toEntry),
    )
    const busy = database.prepared("read a run", "select * from runs where busy_subject = ?", first(toRun))
    const unfinished = database.prepared("read unfinished runs", selectUnfinished, every(toRun))
    const endedAfter = database.prepared(
      "count the runs that ended",
      countEnded,
      every(({ kind, status, ended }) => ({ kind: String(kind), status: String(status), count: Number(ended) })),
    )
    const recoverable = database.list("read unfinished runs", selectUnfinished, toRun)

    return {
      ...leasesIn(database),
      open: (head, rangeState, systemLimits) =>
        database.serializedWrite(`open run ${head.id}`, (tx) =>
          Effect.gen(function* () {
            const rangeId = rangeOf(head)
            if (rangeId !== undefined && (yield* lockRange(tx, rangeId)) === undefined)
              return yield* new RangeNotFound({ rangeId })
            const there = yield* lockRun(tx, head.id)
            if (there !== undefined) return yield* decodedRun(there)
            const before = yield* makeRoom(tx, head.subject)
            if (rangeId !== undefined && head.kind === "deploy" && systemLimits !== undefined)
              yield* refuseDeployOverQuota(tx, rangeId, systemLimits)
            const over = rangeId === undefined ? undefined : yield* unfinishedRun(tx, installation)
            const started_at = head.startedAt.getTime()
            const row = yield* tx((db) =>
              db
                .insertInto("runs")
                .values({
                  id: head.id,
                  kind: head.kind,
                  subject: subjectKey(head.subject),
                  busy_subject: subjectKey(head.subject),
                  range_id: rangeId ?? null,
                  by_user: head.by,
                  options: JSON.stringify(head.options),
                  started_at,
                  status: "running",
                  ended_at: null,
                  last_seq: 0,
                  cancel_requested: false,
                  generation: 0,
                  lease_owner: null,
                  lease_until: null,
                  behind: over?.id ?? before ?? null,
                  // two runs are never opened at the same time
                  ordinal: sql<number>`(select coalesce(max(ordinal), 0) + 1 from runs)`,
                })
                .returningAll()
                .executeTakeFirstOrThrow(),
            )
            if (rangeId !== undefined && head.kind === "deploy") yield* keepDeployedConfig(tx, rangeId)
            const stamp = head.kind === "deploy" ? { last_deployment_at: started_at } : {}
            yield* setRangeState(tx, rangeId, rangeState, head.startedAt, stamp)
            return yield* decodedRun(row)
          }),
        ),
      append: (runId, generation, events, at) =>
        database.write(`write the journal of run ${runId}`, (tx) =>
          Effect.gen(function* () {
            return yield* writeEntries(tx, yield* requireLease(tx, runId, generation), events, at)
          }),
        ),
      close: (runId, generation, ended, rangeState, at) =>
        database.serializedWrite(`end run ${runId}`, (tx) =>
          Effect.gen(function* () {
            const there = yield* lockRun(tx, runId)
            if (there?.status !== "running") return
            const run = yield* requireLease(tx, runId, generation)
            const over = {
              status: ended.status,
              ended_at: at.getTime(),
              busy_subject: null,
              lease_owner: null,
              lease_until: null,
            }
            yield* writeEntries(tx, run, [ended], at, over)
            // a run that gave way to another one no longer sets the state
            if (run.busy_subject === run.subject) yield* setRangeState(tx, run.range_id ?? undefined, rangeState, at)
          }),
        ),
      requestCancel: (runId, lastSeq, event, at, rangeState) =>
        database.serializedWrite(`cancel run ${runId}`, (tx) =>
          Effect.gen(function* () {
            const run = yield* lockRun(tx, runId)
            if (run?.status !== "running" || run.last_seq !== lastSeq) return false
            yield* writeEntries(tx, run, [event], at, { cancel_requested: true })
            yield* setRangeState(tx, run.range_id ?? undefined, rangeState, at)
            return true
          }),
        ),
      read: (runId, afterSeq, limit) =>
        Effect.flatMap(entries(runId, afterSeq, limit ?? Number.MAX_SAFE_INTEGER), (found) => journalOf(runId, afterSeq, found)),
      find: database.prepared("read a run", "select * from runs where id = ?", first(toRun)),
      active: (subject) => busy(subjectKey(subject)),
      unfinished: unfinished(),
      recoverable: recoverable(),
      list: (filter) => listRuns(database, filter),
      endedAfter: (time) => endedAfter(time.getTime()),
      forget: (subject) =>
        database.write("forget runs", (tx) =>
          Effect.asVoid(
            tx((db) =>
              db.deleteFrom("runs").where("subject", "=", subjectKey(subject)).where("status", "<>", "running").execute(),
            ),
          ),
        ),
      prune: (of, keep) => database.write("prune runs", (tx) => pruneRuns(tx, of, keep)),
    }
  }),
)
