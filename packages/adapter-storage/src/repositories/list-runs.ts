import { subjectKey } from "@rangewright/domain"
import type { RunFilter, RunRecord, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import type { Database } from "../engine/database.ts"
import { toRun } from "../records/run.ts"
import type { Tables } from "../schema/tables.ts"

const isEmpty = (list: readonly unknown[] | undefined): boolean => list?.length === 0

/** The newest runs that match the filter, none of whose lists is empty. */
export const selectRuns = (
  db: Kysely<Tables>,
  { subject, ranges, types, kinds, statuses, by, since, before, limit }: RunFilter,
) => {
  let runs = db.selectFrom("runs").selectAll()
  if (subject !== undefined) runs = runs.where("subject", "=", subjectKey(subject))
  if (ranges !== undefined) runs = runs.where("range_id", "in", ranges)
  if (types !== undefined) runs = runs.where((where) => where.or(types.map((type) => where("subject", "like", `${type}:%`))))
  if (kinds !== undefined) runs = runs.where("kind", "in", kinds)
  if (statuses !== undefined) runs = runs.where("status", "in", statuses)
  if (by !== undefined) runs = runs.where("by_user", "=", by)
  if (since !== undefined) runs = runs.where("started_at", ">=", since.getTime())
  if (before !== undefined) runs = runs.where("ordinal", "<", before)
  // the same again, so that an index finds the few among all runs
  const isOfRanges = types === undefined || types.includes("range")
  if (!isOfRanges) runs = runs.where("range_id", "is", null)
  const isUnfinished = statuses?.every((status) => status === "running") === true
  if (isUnfinished) runs = runs.where("busy_subject", ">", "")
  // sorting by a sum lets SQLite search by these: it would rather read all runs in the order of their ordinals
  const isSearched = since !== undefined || !isOfRanges || isUnfinished
  return runs.orderBy(isSearched ? sql`ordinal + 0` : sql.ref("ordinal"), "desc").limit(limit)
}

/** The newest runs that match the filter. Unreadable rows do not count towards the limit. */
export const listRuns = (database: Database["Service"], filter: RunFilter): Effect.Effect<readonly RunRecord[], StorageFault> => {
  const { ranges, types, kinds, statuses, limit } = filter
  if ([ranges, types, kinds, statuses].some(isEmpty)) return Effect.succeed([])
  return Effect.gen(function* () {
    const rows = yield* database.read("list runs", (db) => selectRuns(db, filter).execute())
    const readable = yield* database.readable(rows, toRun)
    const last = rows.at(-1)
    if (last === undefined || rows.length < limit || readable.length === rows.length) return readable
    return [...readable, ...(yield* listRuns(database, { ...filter, before: last.ordinal, limit: limit - readable.length }))]
  })
}
