import {
  type Failed,
  type HostFacts,
  howTo,
  NotFound,
  type Range,
  type RangeConfig,
  type RangeHost,
  rangeHosts,
  type RangeId,
  taggedTemplates,
} from "@rangewright/domain"
import { Machines, type Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"
import { deployedConfig } from "./read-config.ts"

export interface LoadedHosts {
  readonly config: RangeConfig | undefined
  /** Ascending by name. */
  readonly hosts: readonly RangeHost[]
}

/**
 * What is known about a range's machines besides what was observed, without passwords that the service gave them. From stored state alone.
 */
export const hostFacts = (rangeId: RangeId): Effect.Effect<HostFacts, StorageFault, Machines | Settings> =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const { templateLogins = new Map() } = yield* Settings
    const systems = yield* machines.systems(rangeId)
    return { systems, templateLogins, templateSystems: taggedTemplates(yield* machines.templates, rangeId) }
  })

/** The hosts of a range as files and inventories show them, from stored state alone. */
export const loadHosts = (range: Range): Effect.Effect<LoadedHosts, Failed | StorageFault, Ranges | Machines | Settings> =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const config = yield* deployedConfig(range.id)
    return { config, hosts: rangeHosts(range, config, yield* machines.ofRange(range.id), yield* hostFacts(range.id)) }
  })

/** The hosts of a range, or the one with this name or VMID. */
export const loadNamedHosts = (range: Range, machine: string | undefined) =>
  Effect.gen(function* () {
    const { config, hosts } = yield* loadHosts(range)
    if (machine === undefined) return { config, hosts }
    const found = hosts.filter(({ seen, name }) => String(seen.vmid) === machine || name === machine)
    if (found.length === 0)
      return yield* new NotFound({
        what: `Machine ${machine.slice(0, 100)} not found in range ${range.id}`,
        hint: `List its machines: ${howTo("GET /range", {}, range.id)}.`,
      })
    return { config, hosts: found }
  })
