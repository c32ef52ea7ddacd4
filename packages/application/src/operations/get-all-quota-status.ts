import { noAmounts, quotaReport, rootUserId } from "@rangewright/domain"
import { Quotas, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { diskMembers } from "../disk/disk-report.ts"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"
import { limitMembers, QuotaStatusOfUser, usedMembers } from "../wire/quota.ts"

export const getAllQuotaStatus = operation({
  id: "getAllQuotaStatus",
  route: "GET /user/quotas/all",
  group: "Quota",
  does: "read the quotas of all users",
  summary: "What every user may use, where each limit comes from, and what they use",
  access: "admin",
  target: "none",
  output: { type: "json", schema: Schema.Array(QuotaStatusOfUser) },
  statuses: { 200: "limits and use of everybody but ROOT" },
  handle: () =>
    Effect.gen(function* () {
      const { quotaDefaults = noAmounts } = yield* Settings
      const quotas = yield* Quotas
      const userStore = yield* Users
      const facts = yield* quotas.facts
      const users = (yield* userStore.list).filter(({ id }) => id !== rootUserId)
      return yield* Effect.forEach(users, (user) =>
        Effect.map(diskMembers(user), (disk) => {
          const { limits, used, sources } = quotaReport(facts, user.id, quotaDefaults)
          return {
            userID: user.id,
            name: user.name,
            ...limitMembers(limits),
            ...usedMembers(used),
            ...disk,
            sourceRAM: sources.ram,
            sourceCPU: sources.cpus,
            sourceVMs: sources.vms,
            sourceRanges: sources.ranges,
          }
        }),
      )
    }),
})
