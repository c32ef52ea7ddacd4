import { usualSettings } from "@rangewright/application"
import {
  type Installation,
  type MigrationOptions,
  type MigrationPlan,
  planMigration,
  planReturn,
  renderMigration,
} from "@rangewright/domain/migration"
import { natNetworkName } from "@rangewright/domain/network"
import { requireKinds } from "./invalid.ts"

export interface MigrationToPlan {
  /** From Linux bridges to an SDN VXLAN zone (`to-sdn`), or back. `to-sdn` if absent. */
  readonly direction?: MigrationPlan["direction"]
  readonly installation: Pick<Installation, "nodes" | "ranges" | "machines"> & Partial<Installation>
  readonly options?: Partial<MigrationOptions>
}

export interface NetworkMigrationPlan {
  readonly plan: MigrationPlan
  /** The plan as text for display, in several lines. */
  readonly text: string
}

/**
 * The plan that would migrate an installation's networks, computed from the given data; changes nothing. Throws `InvalidInputError` if data
 * is missing.
 */
export const planNetworkMigration = (migration: MigrationToPlan): NetworkMigrationPlan => {
  requireKinds("planNetworkMigration", { "its argument": migration }, { "its argument": "object" })
  const { direction = "to-sdn", installation, options = {} } = migration
  requireKinds("planNetworkMigration", { installation, options }, { installation: "object", options: "object" })
  const { nodes, ranges, machines } = installation
  requireKinds(
    "planNetworkMigration: installation",
    { nodes, ranges, machines },
    { nodes: "list", ranges: "list", machines: "list" },
  )
  const found: Installation = {
    quorate: true,
    zones: [],
    vnets: [],
    otherPending: [],
    bridges: [],
    rights: [],
    record: undefined,
    ...installation,
  }
  const decided: MigrationOptions = {
    clusterMode: true,
    zone: usualSettings.sdnZone,
    vxlanTagBase: usualSettings.vxlanTagBase,
    natBridge: natNetworkName(false),
    natVnet: natNetworkName(true),
    natGroups: [],
    createZone: true,
    ...options,
  }
  const plan = (direction === "to-sdn" ? planMigration : planReturn)(found, decided)
  return { plan, text: renderMigration(plan) }
}
