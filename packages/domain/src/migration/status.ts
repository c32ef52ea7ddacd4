import type { Installation, MigrationOptions } from "./installation.ts"
import { moversOf } from "./moves.ts"
import { migrationPicture } from "./picture.ts"

/** What a migration would need, as the wire asks for it (contract B 7.3), told truly. */
export interface MigrationStatus {
  readonly clusterMode: boolean
  readonly zoneExists: boolean
  readonly natVnetExists: boolean
  /** Somebody has to make the zone first. */
  readonly needsZone: boolean
  /** A range's VNet or the outside network's is missing, or a machine of ours hangs on an old bridge still. */
  readonly needsMigration: boolean
  readonly zone: string
  readonly natVnet: string
  /** For people. */
  readonly message: string
}

export const migrationStatus = (installation: Installation, options: MigrationOptions): MigrationStatus => {
  const { clusterMode, natVnet } = options
  if (!clusterMode)
    return {
      clusterMode,
      zoneExists: false,
      natVnetExists: false,
      needsZone: false,
      needsMigration: false,
      zone: "",
      natVnet,
      message: "Not in cluster mode: ranges stay on the bridges of the one node, and there is nothing to migrate.",
    }
  const picture = migrationPicture(installation, options)
  const missing = picture.pairs.filter(({ vnet }) => !picture.vnets.has(vnet)).map(({ vnet }) => vnet)
  const movers = moversOf(picture.survey.own, new Map(picture.pairs.map(({ bridge, vnet }) => [bridge, vnet])))
  const zoneExists = picture.zone !== undefined
  const needsMigration = missing.length > 0 || movers.length > 0
  return {
    clusterMode,
    zoneExists,
    natVnetExists: picture.vnets.has(natVnet),
    needsZone: !zoneExists,
    needsMigration,
    zone: options.zone,
    natVnet,
    message: statusText(options.zone, zoneExists, missing, movers.length),
  }
}

const statusText = (zone: string, zoneExists: boolean, missing: readonly string[], movers: number): string => {
  if (missing.length === 0 && movers === 0)
    return `Every range has its VNet in the zone ${zone}, and no machine hangs on an old bridge.`
  const parts = [
    ...(missing.length === 0 ? [] : [`${missing.length} ${missing.length === 1 ? "VNet is" : "VNets are"} missing`]),
    ...(movers === 0 ? [] : [`${movers} ${movers === 1 ? "machine hangs" : "machines hang"} on old bridges`]),
  ]
  const way = zoneExists
    ? "POST /migrate/sdn migrates; with ?dryRun=true it tells what it would do."
    : `The SDN zone ${zone} does not exist: create a VXLAN zone with this ID and the addresses of all nodes as peers and apply it, or migrate with ?createZone=true.`
  return `${parts.join(" and ")}. ${way}`
}
