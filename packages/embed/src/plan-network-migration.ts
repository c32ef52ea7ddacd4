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
import { invalid, requireKinds, requireKindsOfAll, withDefaults } from "./invalid.ts"

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

/** What each part of an installation needs; other members may be absent. */
const needed = {
  nodes: { name: "text", online: "flag", missingPackages: "texts", pending: "objects" },
  ranges: { id: "text", number: "number", groups: "texts" },
  machines: {
    vmid: "number",
    node: "text",
    name: "text",
    kind: "text",
    template: "flag",
    tags: "texts",
    running: "flag",
    description: "text",
    snapshots: "objects",
  },
  zones: { name: "text", type: "text", peers: "texts", nodes: "texts" },
  vnets: { name: "text", zone: "text", alias: "text", vlanAware: "flag", missingOn: "texts" },
  bridges: { node: "text", name: "text", ports: "texts", settings: "object" },
  rights: { vnet: "text", subject: "text", name: "text" },
} as const satisfies { readonly [Part in keyof Installation]?: object }

/** Throws `InvalidInputError` if a part of the installation lacks what it needs. */
const requireParts = (whose: string, installation: MigrationToPlan["installation"]): void => {
  for (const part of ["nodes", "ranges", "machines", "zones", "vnets", "bridges", "rights"] as const) {
    const given = installation[part]
    const items = given === undefined ? [] : given
    requireKinds(whose, { [part]: items }, { [part]: "objects" })
    requireKindsOfAll(`${whose}: ${part}`, items, needed[part])
  }
  const { quorate = true, otherPending = [], record, machines } = installation
  requireKinds(whose, { quorate, otherPending }, { quorate: "flag", otherPending: "texts" })
  for (const [index, { nics = [], waiting = [], snapshots }] of machines.entries()) {
    const machine = `${whose}: machines[${index}]`
    requireKinds(machine, { nics, waiting }, { nics: "objects", waiting: "objects" })
    requireKindsOfAll(`${machine}: snapshots`, snapshots, { name: "text", nics: "objects" })
  }
  if (record === undefined) return
  requireKinds(whose, { record }, { record: "object" })
  requireKinds(
    `${whose}: record`,
    { ...record },
    { zone: "text", madeZone: "flag", madeVnets: "texts", bridges: "objects", machines: "objects" },
  )
  requireKindsOfAll(`${whose}: record: bridges`, record.bridges, needed.bridges)
  requireKindsOfAll(`${whose}: record: machines`, record.machines, {
    vmid: "number",
    name: "text",
    node: "text",
    nics: "objects",
  })
}

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
  requireParts("planNetworkMigration: installation", installation)
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
  const { clusterMode, zone, vxlanTagBase, natBridge, natVnet, natGroups, createZone } = decided
  requireKinds(
    "planNetworkMigration: options",
    { clusterMode, zone, vxlanTagBase, natBridge, natVnet, natGroups, createZone },
    {
      clusterMode: "flag",
      zone: "text",
      vxlanTagBase: "number",
      natBridge: "text",
      natVnet: "text",
      natGroups: "texts",
      createZone: "flag",
    },
  )
  const plan = planners[direction](found, decided)
  return { plan, text: renderMigration(plan) }
}
