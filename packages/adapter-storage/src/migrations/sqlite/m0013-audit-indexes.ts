import { Migration } from "@mikro-orm/migrations"

const columns = ["caller_id", "acting_as", "operation", "range_id", "outcome", "remote"] as const

/** The audit trail is found by who, what, where, how it ended and from where. Released: never changed. */
export class M0013AuditIndexes extends Migration {
  override up(): void {
    for (const column of columns) this.addSql(`create index audit_entries_${column}_index on audit_entries (${column}, id)`)
  }
}
