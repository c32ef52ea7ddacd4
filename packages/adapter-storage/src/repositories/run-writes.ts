import {
  type JournalEntry,
  type RangeId,
  type RangeState,
  type RunEvent,
  type RunId,
  storedRunEvent,
  writeRunEvent,
} from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { Selectable, Updateable } from "kysely"
import { QueryFailed, type Transaction } from "../engine/transaction.ts"
import { toRun } from "../records/run.ts"
import type { StoredRow } from "../schema/table.ts"
import type { Tables } from "../schema/tables.ts"

type RunRow = Selectable<Tables["runs"]>

/**
 * Locks the run's row until the end of the transaction, and returns it: nobody writes between this read and the following write. Writing a
 * column to itself locks a row on both engines.
 */
export const lockRun = (tx: Transaction, runId: RunId) =>
  tx((db): Promise<RunRow | undefined> =>
    db
      .updateTable("runs")
      .set((column) => ({ last_seq: column.ref("last_seq") }))
      .where("id", "=", runId)
      .returningAll()
      .executeTakeFirst(),
  )

/** Decodes a run in a transaction; a damaged row fails the transaction. */
export const decodedRun = (row: StoredRow) => Effect.try({ try: () => toRun(row), catch: (cause) => new QueryFailed({ cause }) })

/** Locks the range's row likewise; undefined when there is no such range. */
export const lockRange = (tx: Transaction, rangeId: RangeId) =>
  tx((db) =>
    db
      .updateTable("ranges")
      .set((column) => ({ state: column.ref("state") }))
      .where("id", "=", rangeId)
      .returning("id")
      .executeTakeFirst(),
  )

/** Records the current configuration of the range as the deployed one. */
export const keepDeployedConfig = (tx: Transaction, rangeId: RangeId) =>
  tx((db) =>
    db
      .updateTable("range_configs")
      .set((column) => ({ deployed: column.ref("content") }))
      .where("range_id", "=", rangeId)
      .execute(),
  )

/** Appends events with the next sequence numbers, and changes the run. The run's row must be locked. */
export const writeEntries = (
  tx: Transaction,
  run: RunRow,
  events: readonly RunEvent[],
  at: Date,
  change: Updateable<Tables["runs"]> = {},
) =>
  Effect.gen(function* () {
    const entries = events.map((event, i): JournalEntry => ({ seq: run.last_seq + 1 + i, at, event: storedRunEvent(event) }))
    const rows = entries.map(({ seq, event }) => ({ run_id: run.id, seq, at: at.getTime(), event: writeRunEvent(event) }))
    if (rows.length > 0) yield* tx((db) => db.insertInto("journal_entries").values(rows).execute())
    const last_seq = run.last_seq + rows.length
    yield* tx((db) =>
      db
        .updateTable("runs")
        .set({ ...change, last_seq })
        .where("id", "=", run.id)
        .execute(),
    )
    return entries
  })

/** Sets the state of a range; undefined leaves it. Does nothing without a range. */
export const setRangeState = (
  tx: Transaction,
  rangeId: RangeId | undefined,
  state: RangeState | undefined,
  at: Date,
  stamp: { readonly last_deployment_at?: number } = {},
) =>
  rangeId === undefined || (state === undefined && stamp.last_deployment_at === undefined)
    ? Effect.void
    : Effect.asVoid(
        tx((db) =>
          db
            .updateTable("ranges")
            .set({ ...(state === undefined ? {} : { state }), ...stamp, updated_at: at.getTime() })
            .where("id", "=", rangeId)
            .execute(),
        ),
      )
