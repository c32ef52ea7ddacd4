import { type Failed, type Range, type RangeConfig, type RangeHost, rangeHosts } from "@rangewright/domain"
import { Machines, type Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Settings } from "../settings.ts"
import { storedConfig } from "./read-config.ts"

export interface LoadedHosts {
  readonly config: RangeConfig | undefined
  /** Ascending by name. */
  readonly hosts: readonly RangeHost[]
}

/** The hosts of a range as files and inventories show them, from kept state alone. */
export const loadHosts = (range: Range): Effect.Effect<LoadedHosts, Failed | StorageFault, Ranges | Machines | Settings> =>
  Effect.gen(function* () {
    const config = yield* storedConfig(range.id)
    return { config, hosts: rangeHosts(range, config, yield* (yield* Machines).ofRange(range.id)) }
  })
