import type { UserId } from "@rangewright/domain"
import { Quotas } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { itemsOf } from "../wire/bulk.ts"
import { TextResult } from "../wire/common.ts"
import { requestedLimits } from "../wire/quota.ts"

const doing = "set quotas"

export const setUserQuota = operation({
  id: "setUserQuota",
  route: "PUT /user/quotas",
  group: "Quota",
  does: "set the quotas of users",
  summary: "Set limits of users; omitted limits stay, and 0 removes a limit",
  access: "admin",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      userIDs: Schema.Array(Schema.String),
      quotaRAM: Schema.optionalKey(Schema.Int),
      quotaCPU: Schema.optionalKey(Schema.Int),
      quotaVMs: Schema.optionalKey(Schema.Int),
      quotaRanges: Schema.optionalKey(Schema.Int),
    }),
  },
  audited: ["userIDs", "quotaRAM", "quotaCPU", "quotaVMs", "quotaRanges"],
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "limits set, text counts users; users above the limit keep what they have, but get no more",
    400: "no user is named; no limit is given; a value is negative or too large; the body is malformed",
    404: "a user is not known; nothing was changed",
  },
  handle: ({ body: { userIDs, quotaRAM, quotaCPU, quotaVMs, quotaRanges } }) =>
    Effect.gen(function* () {
      const quotas = yield* Quotas
      const ids = yield* itemsOf(doing, "userIDs", userIDs)
      const asked = { ram: quotaRAM, cpus: quotaCPU, vms: quotaVMs, ranges: quotaRanges }
      const limits = yield* requestedLimits(doing, "quota", asked)
      yield* quotas.limitUsers(ids as readonly UserId[], limits)
      return { result: `Quotas set for ${ids.length} ${ids.length === 1 ? "user" : "users"}` }
    }),
})
