import { bridgeName, networkComment, vnetName } from "../network/addressing.ts"
import type { InstallationRange, MigrationOptions } from "./installation.ts"

/** A bridge and the VNet that stands for the same network. */
export interface NetworkPair {
  readonly bridge: string
  readonly vnet: string
  readonly tag: number
  /** The VNet's alias, by which we know it again. */
  readonly alias: string
  /** Undefined: the network that routers reach the outside through. */
  readonly range: InstallationRange | undefined
}

/** VXLAN tags go from 1 to this; the outside network has the last one, which no range's tag meets. */
export const lastVxlanTag = 16_777_215

/** Whether the hypervisor takes it as the name of a zone or a VNet: two to eight letters and digits, a letter first. */
export const isSdnName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9]{1,7}$/u.test(name)

export const natAlias = "rangewright NAT"

/** Every network of ours with both its names: the outside one first, then the ranges' by number. */
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
