import { noAmounts } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"
import { limitMembers, QuotaLimits } from "../wire/quota.ts"

export const getQuotaDefaults = operation({
  id: "getQuotaDefaults",
  route: "GET /user/quotas/defaults",
  group: "Quota",
  does: "read the default quotas",
  summary: "Limits of users who have none of their own or from a group",
  access: "admin",
  target: "none",
  output: { type: "json", schema: QuotaLimits },
  statuses: { 200: "limits of the whole system" },
  handle: () =>
    Settings.use(({ quotaDefaults = noAmounts, userDiskBytes = 0 }) =>
      Effect.succeed({ ...limitMembers(quotaDefaults), limitDiskBytes: userDiskBytes }),
    ),
})
