import type { SchemaChange } from "./schema-change.ts"

/** The audit trail is found by who, what, where, how it ended and from where. Released: never changed. */
export const m0013AuditIndexes: SchemaChange = {
  name: "0013-audit-indexes",
  both: ["caller_id", "acting_as", "operation", "range_id", "outcome", "remote"].map(
    (column) => `create index audit_entries_${column}_index on audit_entries (${column}, id)`,
  ),
}
