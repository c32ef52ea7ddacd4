import type { KeptAuditEntry } from "@rangewright/ports"
import * as Schema from "effect/Schema"

/** An entry of the audit trail. The next page is requested with `before`: the `id` of the last entry. */
export const AuditObject = Schema.Struct({
  id: Schema.Int,
  at: Schema.String,
  requestID: Schema.String,
  callerID: Schema.optionalKey(Schema.String),
  actingAs: Schema.optionalKey(Schema.String),
  operation: Schema.String,
  rangeID: Schema.optionalKey(Schema.String),
  detail: Schema.String,
  outcome: Schema.String.annotate({
    description:
      "`ok`, or why it did not succeed. `begun`: a change was made, and the operation is still running or its end could not be written",
  }),
  remote: Schema.String,
}).annotate({ identifier: "AuditEntry" })

export const auditObject = (entry: KeptAuditEntry): typeof AuditObject.Type => ({
  id: entry.id,
  at: entry.at.toISOString(),
  requestID: entry.requestId,
  ...(entry.callerId === undefined ? {} : { callerID: entry.callerId }),
  ...(entry.actingAs === undefined ? {} : { actingAs: entry.actingAs }),
  operation: entry.operation,
  ...(entry.rangeId === undefined ? {} : { rangeID: entry.rangeId }),
  detail: entry.detail,
  outcome: entry.outcome,
  remote: entry.remote,
})
