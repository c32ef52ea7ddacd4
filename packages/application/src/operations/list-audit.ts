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
  summary: "Who changed what and who signed in, newest first; the Link header leads to older entries",
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
  output: { type: "marked-json", schema: Schema.Array(AuditObject) },
  statuses: {
    200: `at most ${most} entries, ${usual} unless limit says otherwise`,
    400: "limit or before is not a whole number; since or until is not a time",
  },
  handle: ({ query }) =>
    Effect.gen(function* () {
      const trail = yield* AuditTrail
      const { range, ...filter } = query
      const limit = Math.min(query.limit ?? usual, most)
      const of = range === undefined ? filter : { ...filter, rangeId: range }
      // one more entry shows whether there is a next page
      const entries = limit === 0 ? [] : yield* trail.list(limit + 1, of)
      const shown = entries.slice(0, limit)
      const last = shown.at(-1)
      return {
        json: shown.map(auditObject),
        next: entries.length > limit && last !== undefined ? { before: String(last.id) } : undefined,
      }
    }),
})
