import {
  parseRangeConfig,
  type Range,
  rangeHosts,
  type RangeConfig,
  type RangeDefaults,
  type RangeHost,
  type RangeId,
} from "@rangewright/domain"
import { Machines, Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Settings } from "../settings.ts"

/** The stored configuration, read; undefined when there is none, or none that today's rules accept. */
export const storedConfig = (rangeId: RangeId): Effect.Effect<RangeConfig | undefined, StorageFault, Ranges | Settings> =>
  Effect.gen(function* () {
    const stored = yield* (yield* Ranges).config(rangeId)
    if (stored === undefined) return undefined
    const parsed = parseRangeConfig(stored.text, { defaults: (yield* Settings).rangeDefaults as Partial<RangeDefaults> })
    return Result.isSuccess(parsed) ? parsed.success.config : undefined
  })

export interface LoadedHosts {
  readonly config: RangeConfig | undefined
  /** Ascending by name. */
  readonly hosts: readonly RangeHost[]
}

/** The hosts of a range as files and inventories show them, from kept state alone. */
export const loadHosts = (range: Range): Effect.Effect<LoadedHosts, StorageFault, Ranges | Machines | Settings> =>
  Effect.gen(function* () {
    const config = yield* storedConfig(range.id)
    return { config, hosts: rangeHosts(range, config, yield* (yield* Machines).ofRange(range.id)) }
  })
