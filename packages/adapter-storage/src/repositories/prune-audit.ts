import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import type { Database } from "../engine/database.ts"
import type { Tables } from "../schema/tables.ts"

const dayMillis = 24 * 60 * 60 * 1000

/** The entries of a day: their times, and the last of their ids. */
interface Day {
  readonly from: number
  readonly to: number
  readonly last: number
}

/** All days with entries. A few small reads for each instead of a long one for all: SQLite's block the process. */
const daysOf = async (db: Kysely<Tables>): Promise<readonly Day[]> => {
  const days: Day[] = []
  for (let to = Number.MAX_SAFE_INTEGER; ;) {
    const entries = db.selectFrom("audit_entries").where("at", "<", to)
    const newest = await entries.select("at").orderBy("at", "desc").limit(1).executeTakeFirst()
    if (newest === undefined) return days
    const from = Math.floor(Number(newest.at) / dayMillis) * dayMillis
    // the sum makes SQLite search by time
    const last = sql<number>`max(id + 0)`.as("last")
    const day = await entries.select(last).where("at", ">=", from).executeTakeFirstOrThrow()
    days.push({ from, to: from + dayMillis, last: Number(day.last) })
    to = from
  }
}

/** Deletes the entries of all days but those on which the trail was written last; returns how many. Each day is a transaction. */
export const pruneAudit = (database: Database["Service"], keep: number): Effect.Effect<number, StorageFault> =>
  Effect.gen(function* () {
    const doing = "prune the audit trail"
    const days = yield* database.read(doing, daysOf)
    let gone = 0
    for (const { from, to, last } of days.toSorted((a, b) => b.last - a.last).slice(keep)) {
      // what was written since is not old, whatever its time
      const old = yield* database.write(doing, (tx) =>
        tx((db) =>
          db.deleteFrom("audit_entries").where("at", ">=", from).where("at", "<", to).where("id", "<=", last).executeTakeFirst(),
        ),
      )
      gone += Number(old.numDeletedRows)
    }
    return gone
  })
