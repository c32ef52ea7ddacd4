import type { Installation, MigrationOptions } from "./installation.ts"
import { groupBy } from "../group-by.ts"
import { listed } from "../text.ts"
import { machineLabel } from "./machines.ts"
import { moversOf } from "./moves.ts"
import { asFound } from "./outside.ts"
import { type MigrationPicture, migrationPicture, type VnetState, vnetState } from "./picture.ts"
import { zoneCommands, zoneToMake } from "./zone.ts"

/** What a migration would need, in the fields of the API. */
export interface MigrationStatus {
  readonly clusterMode: boolean
  readonly zoneExists: boolean
  readonly natVnetExists: boolean
  /** The zone has to be created first. */
  readonly needsZone: boolean
  /**
   * The zone is not VXLAN; a VNet that has to exist is missing, unfit or not in force on every node; or a machine of ours is on an old
   * bridge, or may be, because it could never be read. A range without machines and without a bridge needs no VNet: its first deploy
   * creates it.
   */
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
  const picture = migrationPicture(installation, asFound(installation, options))
  const movers = moversOf(picture.survey.own, new Map(picture.pairs.map(({ bridge, vnet }) => [bridge, vnet])))
  const zoneExists = picture.zone !== undefined
  const wants = wantsOf(picture, movers.length)
  const unseen = unseenText(picture)
  return {
    clusterMode,
    zoneExists,
    natVnetExists: picture.vnets.has(natVnet),
    needsZone: !zoneExists,
    needsMigration: wants.length > 0,
    zone: options.zone,
    natVnet,
    message: [
      ...(wants.length === 0
        ? [`Every range has its VNet in the zone ${options.zone}, and no machine is attached to an old bridge.`]
        : [`${wants.join(" and ")}.`]),
      ...unseen,
      ...(wants.length === 0 ? [] : [wayOut(picture)]),
    ].join(" "),
  }
}

/** Machines of ours that cannot be read now: the status is about them as they were last seen. */
const unseenText = ({ survey }: MigrationPicture): readonly string[] => {
  const unseen = survey.own.flatMap(({ machine }) => (machine.unseen === true ? [machine] : []))
  if (unseen.length === 0) return []
  const nodes = [...new Set(unseen.map(({ node }) => node))].sort()
  const told = `${unseen.length === 1 ? "1 machine" : `${unseen.length} machines`} on ${listed(nodes, most)}`
  return [`${told} cannot be read now, and ${unseen.length === 1 ? "counts" : "count"} as last seen.`]
}

/** How many names a line of the status lists. */
const most = 5

/** What differs from the state that a migration would leave, for people. */
const wantsOf = (picture: MigrationPicture, movers: number): readonly string[] => {
  const states = groupBy(picture.needed, (pair) => vnetState(picture, pair))
  const named = (...of: readonly VnetState[]): readonly string[] =>
    of.flatMap((state) => (states.get(state) ?? []).map(({ vnet }) => vnet))
  const told = (names: readonly string[], one: string, more: string): readonly string[] =>
    names.length === 0
      ? []
      : [`${names.length === 1 ? `1 VNet ${one}` : `${names.length} VNets ${more}`} (${listed(names, most)})`]
  const pending = named("pending")
  const nodes = [...new Set(pending.flatMap((vnet) => picture.vnets.get(vnet)?.missingOn ?? []))].sort()
  const unknown = picture.survey.unreadable
  const where = nodes.length === 0 ? "" : ` on ${listed(nodes, most)}`
  return [
    ...told(named("missing"), "is missing", "are missing"),
    ...told(named("foreign", "unfit"), "is not as required", "are not as required"),
    ...told(pending, `has not been applied${where}`, `have not been applied${where}`),
    ...(picture.zone !== undefined && picture.zone.type !== "vxlan"
      ? [`the zone ${picture.zone.name} has the type ${picture.zone.type}, but must be VXLAN`]
      : []),
    ...(movers === 0 ? [] : [`${movers} ${movers === 1 ? "machine is" : "machines are"} on old bridges`]),
    ...(unknown.length === 0
      ? []
      : [
          `it is not known where ${unknown.length === 1 ? "a machine is" : `${unknown.length} machines are`} attached (${listed(unknown.map(machineLabel), most)})`,
        ]),
  ]
}

const wayOut = ({ zone, options, installation }: MigrationPicture): string => {
  if (zone === undefined)
    return `The SDN zone ${options.zone} does not exist. On any node: ${zoneCommands(zoneToMake(options.zone, installation))}; or migrate with ?createZone=true (--create-zone), which creates this zone.`
  if (zone.type !== "vxlan") return "Set sdn_zone to the name of a VXLAN zone."
  const offline = installation.nodes.filter(({ online }) => !online).map(({ name }) => name)
  const first = offline.length === 0 ? "" : `Bring ${listed(offline, most)} back first: networks change on every node. `
  return `${first}POST /migrate/sdn migrates; with ?dryRun=true it says what it would do.`
}
