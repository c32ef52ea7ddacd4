import { bridgeName, natAlias, networkComment, vnetName } from "../network/addressing.ts"
import type { InstallationRange, MigrationOptions } from "./installation.ts"

/** A bridge and the VNet for the same network. */
export interface NetworkPair {
  readonly bridge: string
  readonly vnet: string
  readonly tag: number
  /** The VNet's alias, by which we recognize it. */
  readonly alias: string
  /** Undefined: the network through which routers reach the outside. */
  readonly range: InstallationRange | undefined
}

/** VXLAN tags go from 1 to this one, which belongs to the outside network; no range may have it. */
export const lastVxlanTag = 16_777_215

/** Whether the hypervisor accepts the name for a zone or VNet: two to eight letters and digits, starting with a letter. */
export const isSdnName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9]{1,7}$/u.test(name)

/** All our networks with both their names: the outside network first, then the ranges' by number. */
export const networkPairs = (ranges: readonly InstallationRange[], options: MigrationOptions): readonly NetworkPair[] => [
  { bridge: options.natBridge, vnet: options.natVnet, tag: lastVxlanTag, alias: natAlias, range: undefined },
  ...ranges
    .toSorted((a, b) => a.number - b.number)
    .map((range): NetworkPair => ({
      bridge: bridgeName(range.number),
      vnet: vnetName(range.number),
      tag: options.vxlanTagBase + range.number,
      alias: networkComment(range.id),
      range,
    })),
]
