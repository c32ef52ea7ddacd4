import { installation, type JournalEntry, rangeOf, type RunEvent, type RunId, subjectKey } from "@rangewright/domain"
import { LeaseLost, RunJournal, type RunRecord, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Selectable } from "kysely"
import { Database, type Transaction } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toDate, toRun } from "../schema/rows.ts"
import { pruneRuns } from "./prune-runs.ts"
import { makeRoom, unfinishedRun } from "./refuse-busy.ts"
import { holdRange, keepDeployedConfig, readRunForWriting, setRangeState, writeEntries } from "./run-writes.ts"

type RunRow = Selectable<Tables["runs"]>
type EntryRow = Selectable<Tables["journal_entries"]>

const toEntry = (row: EntryRow): JournalEntry => ({
  seq: row.seq,
  at: toDate(row.at),
  event: JSON.parse(row.event) as RunEvent,
})

/** The run, while this generation may write to it. */
const fenced = (tx: Transaction, runId: RunId, generation: number) =>
  Effect.gen(function* () {
    const run = yield* readRunForWriting(tx, runId)
    return run === undefined || run.status !== "running" || run.generation !== generation
      ? yield* new LeaseLost({ what: `run ${runId}`, generation })
      : run
  })

export const runJournalLayer: Layer.Layer<RunJournal, never, Database> = Layer.effect(
  RunJournal,
  Effect.gen(function* () {
    const database = yield* Database
    const entries = database.prepared<EntryRow>(
      "read a journal",
      "select * from journal_entries where run_id = ? and seq > ? order by seq limit ?",
    )
    const byId = database.prepared<RunRow>("read a run", "select * from runs where id = ?")
    const busy = database.prepared<RunRow>("read a run", "select * from runs where busy_subject = ?")
    const unfinished = database.prepared<RunRow>(
      "read unfinished runs",
      "select * from runs where busy_subject is not null order by started_at desc, id desc",
    )
    const first = Effect.map((rows: readonly RunRow[]): RunRecord | undefined =>
      rows[0] === undefined ? undefined : toRun(rows[0]),
    )

    return {
      open: (head, rangeState) =>
        database.writeAlone(`open run ${head.id}`, (tx) =>
          Effect.gen(function* () {
            const rangeId = rangeOf(head)
            if (rangeId !== undefined && (yield* holdRange(tx, rangeId)) === undefined)
              return yield* new StorageFault({ doing: `open run ${head.id}`, because: `range ${rangeId} is not stored` })
            const there = yield* readRunForWriting(tx, head.id)
            if (there !== undefined) return toRun(there)
            const before = yield* makeRoom(tx, head.subject)
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
                })
                .returningAll()
                .executeTakeFirstOrThrow(),
            )
            if (rangeId !== undefined && head.kind === "deploy") yield* keepDeployedConfig(tx, rangeId)
            const stamp = head.kind === "deploy" ? { last_deployment_at: started_at } : {}
            yield* setRangeState(tx, rangeId, rangeState, head.startedAt, stamp)
            return toRun(row)
          }),
        ),
      append: (runId, generation, events, at) =>
        database.write(`write the journal of run ${runId}`, (tx) =>
          Effect.gen(function* () {
            return yield* writeEntries(tx, yield* fenced(tx, runId, generation), events, at)
          }),
        ),
      close: (runId, generation, ended, rangeState, at) =>
        database.writeAlone(`end run ${runId}`, (tx) =>
          Effect.gen(function* () {
            const there = yield* readRunForWriting(tx, runId)
            if (there?.status !== "running") return
            const run = yield* fenced(tx, runId, generation)
            const over = {
              status: ended.status,
              ended_at: at.getTime(),
              busy_subject: null,
              lease_owner: null,
              lease_until: null,
            }
            yield* writeEntries(tx, run, [ended], at, over)
            // one that gave its place to another run shows no more
            if (run.busy_subject === run.subject) yield* setRangeState(tx, run.range_id ?? undefined, rangeState, at)
          }),
        ),
      requestCancel: (runId, event, at, rangeState) =>
        database.writeAlone(`cancel run ${runId}`, (tx) =>
          Effect.gen(function* () {
            const run = yield* readRunForWriting(tx, runId)
            if (run?.status !== "running") return false
            if (run.cancel_requested) return true
            yield* writeEntries(tx, run, [event], at, { cancel_requested: true })
            yield* setRangeState(tx, run.range_id ?? undefined, rangeState, at)
            return true
          }),
        ),
      read: (runId, afterSeq, limit) =>
        Effect.map(entries(runId, afterSeq, limit ?? Number.MAX_SAFE_INTEGER), (rows) => rows.map(toEntry)),
      find: (runId) => first(byId(runId)),
      active: (subject) => first(busy(subjectKey(subject))),
      unfinished: Effect.map(unfinished(), (rows) => rows.map(toRun)),
      list: ({ subject, types, by, kinds, limit, before }) =>
        kinds?.length === 0 || types?.length === 0
          ? Effect.succeed([])
          : Effect.map(
              database.read("list runs", (db) => {
                let runs = db.selectFrom("runs").selectAll()
                if (subject !== undefined) runs = runs.where("subject", "=", subjectKey(subject))
                if (types !== undefined)
                  runs = runs.where((where) => where.or(types.map((type) => where("subject", "like", `${type}:%`))))
                if (by !== undefined) runs = runs.where("by_user", "=", by)
                if (kinds !== undefined) runs = runs.where("kind", "in", kinds)
                if (before !== undefined) runs = runs.where("started_at", "<", before.getTime())
                return runs.orderBy("started_at", "desc").orderBy("id", "desc").limit(limit).execute()
              }),
              (rows) => rows.map(toRun),
            ),
      forget: (subject) =>
        database.write("forget runs", (tx) =>
          Effect.asVoid(
            tx((db) =>
              db.deleteFrom("runs").where("subject", "=", subjectKey(subject)).where("status", "<>", "running").execute(),
            ),
          ),
        ),
      prune: (keep) => database.write("prune runs", (tx) => pruneRuns(tx, keep)),
    }
  }),
)
