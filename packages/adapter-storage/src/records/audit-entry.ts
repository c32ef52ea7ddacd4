import type { RangeId, UserId } from "@rangewright/domain"
import type { KeptAuditEntry } from "@rangewright/ports"
import { type Column, declared, optional, sequence, text, time, unique } from "../schema/column.ts"
import { rangeId, userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"

// search accepts any text
const anyUser: Column<UserId, string> = userId
const anyRange: Column<RangeId, string> = rangeId

export const auditEntries = table(
  "audit_entries",
  {
    id: sequence,
    at: declared(time, { index: "audit_entries_at_index" }),
    requestId: text,
    callerId: optional(anyUser),
    actingAs: optional(anyUser),
    operation: text,
    rangeId: optional(anyRange),
    detail: text,
    outcome: text,
    remote: text,
    /** Key of one operation's entry, so that it is written once. */
    draft: optional(unique("audit_entries_draft_unique", text)),
  },
  // filters used by administrators; the id after each column sorts the newest first
  {
    indexes: [
      { name: "audit_entries_caller_id_index", properties: ["callerId", "id"] },
      { name: "audit_entries_acting_as_index", properties: ["actingAs", "id"] },
      { name: "audit_entries_operation_index", properties: ["operation", "id"] },
      { name: "audit_entries_range_id_index", properties: ["rangeId", "id"] },
      { name: "audit_entries_outcome_index", properties: ["outcome", "id"] },
      { name: "audit_entries_remote_index", properties: ["remote", "id"] },
    ],
  },
)

export const toAuditEntry: (row: StoredRow) => KeptAuditEntry = auditEntries.reader({ without: ["draft"] })
