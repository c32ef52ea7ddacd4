import { type AuditFilter, AuditTrail } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ExpressionBuilder } from "kysely"
import { writeEntry } from "../engine/audited.ts"
import { Database } from "../engine/database.ts"
import { toAuditEntry } from "../records/audit-entry.ts"
import { every } from "../schema/table.ts"
import type { Tables } from "../schema/tables.ts"

/**
 * The first entry at or after a time, or the last before it. Entries are written in order of time, so ids can stand for times and one index
 * serves all filters.
 */
const edge = (eb: ExpressionBuilder<Tables, "audit_entries">, which: ">=" | "<", at: Date) =>
  eb
    .selectFrom("audit_entries as edge")
    .select("edge.id")
    .where("edge.at", which, at.getTime())
    .orderBy("edge.at", which === "<" ? "desc" : "asc")
    .orderBy("edge.id", which === "<" ? "desc" : "asc")
    .limit(1)

/** The given parts of the filter, as conditions. */
const meant =
  ({ before, user, operation, rangeId, outcome, remote, since, until }: AuditFilter) =>
  (eb: ExpressionBuilder<Tables, "audit_entries">) =>
    eb.and([
      ...(before === undefined ? [] : [eb("id", "<", before)]),
      ...(user === undefined ? [] : [eb.or([eb("caller_id", "=", user), eb("acting_as", "=", user)])]),
      ...(operation === undefined ? [] : [eb("operation", "=", operation)]),
      ...(rangeId === undefined ? [] : [eb("range_id", "=", rangeId)]),
      ...(outcome === undefined ? [] : [eb("outcome", "=", outcome)]),
      ...(remote === undefined ? [] : [eb("remote", "=", remote)]),
      ...(since === undefined ? [] : [eb("id", ">=", edge(eb, ">=", since))]),
      ...(until === undefined ? [] : [eb("id", "<=", edge(eb, "<", until))]),
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
      prune: (before) =>
        database.write("prune the audit trail", (tx) =>
          Effect.map(
            tx((db) => db.deleteFrom("audit_entries").where("at", "<", before.getTime()).executeTakeFirst()),
            ({ numDeletedRows }) => Number(numDeletedRows),
          ),
        ),
    }
  }),
)
