import { AuditTrail } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { AuditObject, auditObject } from "../wire/audit.ts"
import { TimeText, WholeNumberText } from "../wire/parameters.ts"

const usual = 100
const most = 1000

export const listAudit = operation({
  id: "listAudit",
  route: "GET /audit",
  group: "Host",
  origin: "ours",
  does: "read the audit trail",
  summary: "Who changed what and who signed in, newest first; the next page is before the last id",
  access: "admin",
  target: "none",
  query: {
    limit: Schema.optionalKey(WholeNumberText),
    before: Schema.optionalKey(WholeNumberText),
    user: Schema.optionalKey(Schema.String),
    operation: Schema.optionalKey(Schema.String),
    range: Schema.optionalKey(Schema.String),
    outcome: Schema.optionalKey(Schema.String),
    remote: Schema.optionalKey(Schema.String),
    since: Schema.optionalKey(TimeText),
    until: Schema.optionalKey(TimeText),
  },
  output: { type: "json", schema: Schema.Array(AuditObject) },
  statuses: {
    200: `at most ${most} entries, ${usual} unless limit says otherwise`,
    400: "limit or before is no whole number; since or until is no time",
  },
  handle: ({ query }) =>
    Effect.gen(function* () {
      const trail = yield* AuditTrail
      const { limit = usual, range, ...filter } = query
      const of = range === undefined ? filter : { ...filter, rangeId: range }
      const entries = yield* trail.list(Math.min(limit, most), of)
      return entries.map(auditObject)
    }),
})
