import { type AuditEntry, AuditTrail } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Selectable } from "kysely"
import { Database } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toDate } from "../schema/rows.ts"

const toEntry = (row: Selectable<Tables["audit_entries"]>): AuditEntry => ({
  at: toDate(row.at),
  requestId: row.request_id,
  callerId: (row.caller_id ?? undefined) as AuditEntry["callerId"],
  actingAs: (row.acting_as ?? undefined) as AuditEntry["actingAs"],
  operation: row.operation,
  rangeId: (row.range_id ?? undefined) as AuditEntry["rangeId"],
  detail: row.detail,
  outcome: row.outcome,
  remote: row.remote,
})

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
      list: (limit) =>
        Effect.map(
          database.read("list who did what", (db) =>
            db.selectFrom("audit_entries").selectAll().orderBy("id", "desc").limit(limit).execute(),
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
