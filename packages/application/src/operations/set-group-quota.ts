import type { GroupName } from "@rangewright/domain"
import { Quotas } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { itemsOf } from "../wire/bulk.ts"
import { TextResult } from "../wire/common.ts"
import { requestedLimits } from "../wire/quota.ts"

const doing = "set quotas of groups"

export const setGroupQuota = operation({
  id: "setGroupQuota",
  route: "PUT /groups/quotas",
  group: "Quota",
  does: "set the quotas of groups",
  summary: "Set limits that groups give their members; omitted limits stay, and 0 removes a limit",
  access: "admin",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      groupNames: Schema.Array(Schema.String),
      defaultQuotaRAM: Schema.optionalKey(Schema.Int),
      defaultQuotaCPU: Schema.optionalKey(Schema.Int),
      defaultQuotaVMs: Schema.optionalKey(Schema.Int),
      defaultQuotaRanges: Schema.optionalKey(Schema.Int),
    }),
  },
  audited: ["groupNames", "defaultQuotaRAM", "defaultQuotaCPU", "defaultQuotaVMs", "defaultQuotaRanges"],
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "limits set, text counts groups",
    400: "no group is named; no limit is given; a value is negative or too large; the body is malformed",
    404: "a group is not known; nothing was changed",
  },
  handle: ({ body: { groupNames, defaultQuotaRAM, defaultQuotaCPU, defaultQuotaVMs, defaultQuotaRanges } }) =>
    Effect.gen(function* () {
      const quotas = yield* Quotas
      const names = yield* itemsOf(doing, "groupNames", groupNames)
      const asked = { ram: defaultQuotaRAM, cpus: defaultQuotaCPU, vms: defaultQuotaVMs, ranges: defaultQuotaRanges }
      const limits = yield* requestedLimits(doing, "defaultQuota", asked)
      yield* quotas.limitGroups(names as readonly GroupName[], limits)
      return { result: `Quotas set for ${names.length} ${names.length === 1 ? "group" : "groups"}` }
    }),
})
