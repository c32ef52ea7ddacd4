import { noAmounts, quotaReport } from "@rangewright/domain"
import { Quotas } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { diskMembers } from "../disk/disk-report.ts"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"
import { limitMembers, QuotaStatus, usedMembers } from "../wire/quota.ts"

export const getQuotaStatus = operation({
  id: "getQuotaStatus",
  route: "GET /user/quotas",
  group: "Quota",
  does: "read quotas",
  summary: "What the user may use, and uses; a limit of 0 means no limit",
  access: "user",
  target: "none",
  query: { userID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: QuotaStatus },
  statuses: { 200: "limits and use of the user" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const { quotaDefaults = noAmounts } = yield* Settings
      const quotas = yield* Quotas
      const { limits, used } = quotaReport(yield* quotas.facts, user.id, quotaDefaults)
      return { ...limitMembers(limits), ...usedMembers(used), ...(yield* diskMembers(user)) }
    }),
})
