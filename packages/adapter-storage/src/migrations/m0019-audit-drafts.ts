import type { SchemaChange } from "./schema-change.ts"

/** Entries are written with the change, and their outcome when it is known. Released: never changed. */
export const m0019AuditDrafts: SchemaChange = {
  name: "0019-audit-drafts",
  both: [
    `alter table audit_entries add column draft text null`,
    `create unique index audit_entries_draft_unique on audit_entries (draft)`,
  ],
}
