import { type Failed, type Range, shownAddresses, type Topology, topologyOf } from "@rangewright/domain"
import { type RangeMachine, Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Settings } from "../settings.ts"
import { deployedConfig } from "./read-config.ts"

/** The network of a range as deployed, or before the first deploy as configured, with these existing machines. */
export const rangeTopology = Effect.fnUntraced(function* (
  range: Range,
  machines: readonly RangeMachine[],
): Effect.fn.Return<Topology, Failed | StorageFault, Ranges | Settings> {
  const config = yield* deployedConfig(range.id)
  const addressOf = shownAddresses(range, config)
  const seen = machines.map(({ vmid, name = String(vmid), power, isRouter, missingSince, ...machine }) => ({
    vmid,
    name,
    power,
    isRouter,
    missingSince,
    address: addressOf({ ...machine, vmid, name, power, isRouter }),
  }))
  return topologyOf(config, range, seen)
})
