import type { AuditEntry } from "@rangewright/ports"
import * as Schema from "effect/Schema"

/** Who did what. */
export const AuditObject = Schema.Struct({
  at: Schema.String,
  requestID: Schema.String,
  callerID: Schema.optionalKey(Schema.String),
  actingAs: Schema.optionalKey(Schema.String),
  operation: Schema.String,
  rangeID: Schema.optionalKey(Schema.String),
  detail: Schema.String,
  outcome: Schema.String,
  remote: Schema.String,
}).annotate({ identifier: "AuditEntry" })

export const auditObject = (entry: AuditEntry): typeof AuditObject.Type => ({
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
