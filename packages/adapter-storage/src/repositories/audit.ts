import { type AuditFilter, AuditTrail } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type ExpressionBuilder, type RawBuilder, sql } from "kysely"
import { writeEntry } from "../engine/audited.ts"
import { Database } from "../engine/database.ts"
import { toAuditEntry } from "../records/audit-entry.ts"
import { every } from "../schema/table.ts"
import type { Tables } from "../schema/tables.ts"
import { pruneAudit } from "./prune-audit.ts"

/**
 * The entries of these times. Most are written in the order of their times: so every index serves, between the ids of the first and the
 * last of them. Those in between have other times where the clock was set back. The sums make SQLite search for these two ids by time, and
 * for the entries by id.
 */
const within = ({ since, until }: AuditFilter) => {
  if (since === undefined && until === undefined) return []
  const inTime = (at: RawBuilder<number>) =>
    sql<boolean>`${at} >= ${since?.getTime() ?? Number.MIN_SAFE_INTEGER} and ${at} < ${until?.getTime() ?? Number.MAX_SAFE_INTEGER}`
  const edge = (which: "min" | "max") =>
    sql<number>`(select ${sql.raw(which)}(edge.id + 0) from audit_entries as edge where ${inTime(sql`edge.at`)})`
  return [
    inTime(sql`(audit_entries.at + 0)`),
    ...(since === undefined ? [] : [sql<boolean>`audit_entries.id >= ${edge("min")}`]),
    ...(until === undefined ? [] : [sql<boolean>`audit_entries.id <= ${edge("max")}`]),
  ]
}

/** The given parts of the filter, as conditions. */
const meant =
  ({ before, user, operation, rangeId, outcome, remote, ...times }: AuditFilter) =>
  (eb: ExpressionBuilder<Tables, "audit_entries">) =>
    eb.and([
      ...(before === undefined ? [] : [eb("id", "<", before)]),
      ...(user === undefined ? [] : [eb.or([eb("caller_id", "=", user), eb("acting_as", "=", user)])]),
      ...(operation === undefined ? [] : [eb("operation", "=", operation)]),
      ...(rangeId === undefined ? [] : [eb("range_id", "=", rangeId)]),
      ...(outcome === undefined ? [] : [eb("outcome", "=", outcome)]),
      ...(remote === undefined ? [] : [eb("remote", "=", remote)]),
      ...within(times),
    ])

const recording = "write to the audit trail"

export const auditLayer: Layer.Layer<AuditTrail, never, Database> = Layer.effect(
  AuditTrail,
  Effect.gen(function* () {
    const database = yield* Database
    return {
      record: (entry, key) => database.write(recording, (tx) => Effect.asVoid(writeEntry(tx, entry, key))),
      // any transaction writes the entry with it, even one that changes nothing
      begin: database.write(recording, () => Effect.void),
      list: (limit, filter = {}) =>
        database.read("read the audit trail", (db) =>
          db
            .selectFrom("audit_entries")
            .selectAll()
            .where(meant(filter))
            .orderBy("id", "desc")
            .limit(limit)
            .execute()
            .then(every(toAuditEntry)),
        ),
      prune: (days) => pruneAudit(database, days),
    }
  }),
)
