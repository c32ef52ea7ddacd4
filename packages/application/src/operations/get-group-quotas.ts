import { noAmounts } from "@rangewright/domain"
import { Groups, Quotas } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { GroupQuota } from "../wire/quota.ts"

export const getGroupQuotas = operation({
  id: "getGroupQuotas",
  route: "GET /groups/quotas",
  group: "Quota",
  does: "read the quotas of groups",
  summary: "Limits that each group gives those of its members who have none of their own",
  access: "admin",
  target: "none",
  output: { type: "json", schema: Schema.Array(GroupQuota) },
  statuses: { 200: "limits of every group" },
  handle: () =>
    Effect.gen(function* () {
      const quotas = yield* Quotas
      const groups = yield* Groups
      const { ofGroups } = yield* quotas.limits
      return (yield* groups.list()).map(({ name, members, managers }) => {
        const { ram, cpus, vms, ranges } = ofGroups.get(name) ?? noAmounts
        return {
          name,
          defaultQuotaRAM: ram,
          defaultQuotaCPU: cpus,
          defaultQuotaVMs: vms,
          defaultQuotaRanges: ranges,
          memberCount: members + managers,
        }
      })
    }),
})
