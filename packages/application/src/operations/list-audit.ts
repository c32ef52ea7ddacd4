import { AuditTrail } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { AuditObject, auditObject } from "../wire/audit.ts"
import { WholeNumberText } from "../wire/parameters.ts"
import { adminStatuses } from "../wire/statuses.ts"

const usual = 100
const most = 1000

export const listAudit = operation({
  id: "listAudit",
  route: "GET /audit",
  group: "Host",
  origin: "ours",
  summary: "Who changed what, newest first",
  access: "admin",
  target: "none",
  query: { limit: Schema.optionalKey(WholeNumberText) },
  output: { type: "json", schema: Schema.Array(AuditObject) },
  statuses: {
    200: `at most ${most} entries, ${usual} unless limit says otherwise`,
    ...adminStatuses,
    400: "limit is no whole number",
  },
  handle: ({ query }) =>
    Effect.gen(function* () {
      const entries = yield* (yield* AuditTrail).list(Math.min(query.limit ?? usual, most))
      return entries.map(auditObject)
    }),
})
