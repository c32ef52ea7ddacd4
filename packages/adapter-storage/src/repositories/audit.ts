import { type AuditFilter, AuditTrail, type KeptAuditEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ExpressionBuilder, Selectable } from "kysely"
import { Database } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toDate } from "../schema/rows.ts"

const toEntry = (row: Selectable<Tables["audit_entries"]>): KeptAuditEntry => ({
  id: row.id,
  at: toDate(row.at),
  requestId: row.request_id,
  callerId: (row.caller_id ?? undefined) as KeptAuditEntry["callerId"],
  actingAs: (row.acting_as ?? undefined) as KeptAuditEntry["actingAs"],
  operation: row.operation,
  rangeId: (row.range_id ?? undefined) as KeptAuditEntry["rangeId"],
  detail: row.detail,
  outcome: row.outcome,
  remote: row.remote,
})

/** The entry where a time begins or ends. Entries are written in the order of their times, so that ids can stand for times: one index serves all. */
const edge = (eb: ExpressionBuilder<Tables, "audit_entries">, which: ">=" | "<", at: Date) =>
  eb
    .selectFrom("audit_entries as edge")
    .select("edge.id")
    .where("edge.at", which, at.getTime())
    .orderBy("edge.at", which === "<" ? "desc" : "asc")
    .orderBy("edge.id", which === "<" ? "desc" : "asc")
    .limit(1)

/** What is given of the filter, as conditions. */
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

export const auditLayer: Layer.Layer<AuditTrail, never, Database> = Layer.effect(
  AuditTrail,
  Effect.gen(function* () {
    const database = yield* Database
    return {
      record: (entry) =>
        database.write("record who did what", (tx) =>
          Effect.asVoid(
            tx((db) =>
              db
                .insertInto("audit_entries")
                .values({
                  at: entry.at.getTime(),
                  request_id: entry.requestId,
                  caller_id: entry.callerId ?? null,
                  acting_as: entry.actingAs ?? null,
                  operation: entry.operation,
                  range_id: entry.rangeId ?? null,
                  detail: entry.detail,
                  outcome: entry.outcome,
                  remote: entry.remote,
                })
                .execute(),
            ),
          ),
        ),
      list: (limit, filter = {}) =>
        Effect.map(
          database.read("list who did what", (db) =>
            db.selectFrom("audit_entries").selectAll().where(meant(filter)).orderBy("id", "desc").limit(limit).execute(),
          ),
          (rows) => rows.map(toEntry),
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
