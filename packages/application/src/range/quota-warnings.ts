import { isAnyLimited, noAmounts, type Range, refusedDeploy } from "@rangewright/domain"
import { Quotas, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** Why a deploy of the range's configuration would be refused now because of quotas; empty: it would not. */
export const quotaWarnings = (range: Range) =>
  Effect.gen(function* () {
    const { quotaDefaults = noAmounts } = yield* Settings
    const quotas = yield* Quotas
    const ranges = yield* Ranges
    if (!isAnyLimited(yield* quotas.limits, quotaDefaults)) return []
    const config = yield* ranges.config(range.id)
    if (config === undefined) return []
    const refused = refusedDeploy(yield* quotas.facts, range.id, config.text, quotaDefaults)
    return refused === undefined ? [] : [refused.message]
  })
