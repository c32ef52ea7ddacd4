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
import { invalid, requireKinds, withDefaults } from "./invalid.ts"

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

const planners = { "to-sdn": planMigration, "to-bridges": planReturn } as const satisfies Record<
  MigrationPlan["direction"],
  unknown
>

/**
 * The plan that would migrate an installation's networks, computed from the given data; changes nothing. Throws `InvalidInputError` if data
 * is missing.
 */
export const planNetworkMigration = (migration: MigrationToPlan): NetworkMigrationPlan => {
  requireKinds("planNetworkMigration", { "its argument": migration }, { "its argument": "object" })
  const { direction = "to-sdn", installation, options = {} } = migration
  requireKinds("planNetworkMigration", { installation, options }, { installation: "object", options: "object" })
  if (!Object.hasOwn(planners, direction))
    invalid(`planNetworkMigration: direction must be one of ${Object.keys(planners).join(", ")}, but it is ${direction}`)
  const { nodes, ranges, machines } = installation
  requireKinds(
    "planNetworkMigration: installation",
    { nodes, ranges, machines },
    { nodes: "objects", ranges: "objects", machines: "objects" },
  )
  const found = withDefaults<Installation>(
    {
      nodes,
      ranges,
      machines,
      quorate: true,
      zones: [],
      vnets: [],
      otherPending: [],
      bridges: [],
      rights: [],
      record: undefined,
    },
    installation,
  )
  const decided = withDefaults<MigrationOptions>(
    {
      clusterMode: true,
      zone: usualSettings.sdnZone,
      vxlanTagBase: usualSettings.vxlanTagBase,
      natBridge: natNetworkName(false),
      natVnet: natNetworkName(true),
      natGroups: [],
      createZone: true,
    },
    options,
  )
  const plan = planners[direction](found, decided)
  return { plan, text: renderMigration(plan) }
}
