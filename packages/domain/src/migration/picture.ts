import type {
  Installation,
  InstallationBridge,
  InstallationMachine,
  InstallationVnet,
  InstallationZone,
  MigrationOptions,
} from "./installation.ts"
import { groupBy } from "../group-by.ts"
import { type NetworkPair, networkPairs } from "./layout.ts"
import { type MachineSurvey, networksOf, surveyMachines } from "./machines.ts"

/** An installation with the lookups that both directions need. */
export interface MigrationPicture {
  readonly installation: Installation
  readonly options: MigrationOptions
  readonly pairs: readonly NetworkPair[]
  /**
   * Those of `pairs` whose VNet has to exist. A range that has neither machines nor a bridge, and whose network no machine uses, gets its
   * VNet with its first deploy: a migration has nothing to do for it.
   */
  readonly needed: readonly NetworkPair[]
  readonly survey: MachineSurvey
  readonly zone: InstallationZone | undefined
  readonly vnets: ReadonlyMap<string, InstallationVnet>
  readonly bridges: ReadonlyMap<string, readonly InstallationBridge[]>
  /** Machines that are not ours to move, by the name of the network they are attached to; no templates, since they never run. */
  readonly strangers: ReadonlyMap<string, readonly InstallationMachine[]>
  /** Nodes with a machine that is not ours and that could not be read: it may be attached to any network there. */
  readonly dark: ReadonlySet<string>
  /** Networks that our own machines are attached to, by node and name (`placeOf`). */
  readonly inUse: ReadonlySet<string>
}

export const placeOf = (node: string, network: string): string => `${node}\n${network}`

const byNetwork = (machines: readonly InstallationMachine[]): ReadonlyMap<string, readonly InstallationMachine[]> => {
  const pairs = machines.flatMap((machine) => [...networksOf(machine)].map((network) => ({ network, machine })))
  return new Map(
    [...groupBy(pairs, ({ network }) => network)].map(([network, list]) => [network, list.map(({ machine }) => machine)]),
  )
}

export const migrationPicture = (installation: Installation, options: MigrationOptions): MigrationPicture => {
  const survey = surveyMachines(installation)
  const strangers = [...survey.others, ...survey.contradictory.map(({ machine }) => machine)]
  const pairs = networkPairs(installation.ranges, options)
  const vnets = new Map(installation.vnets.map((vnet) => [vnet.name, vnet]))
  const bridges = groupBy(installation.bridges, ({ name }) => name)
  // a machine of another range counts too
  const used = new Set(survey.own.flatMap(({ machine }) => [...networksOf(machine)]))
  const populated = new Set<string | undefined>([
    ...survey.own.map(({ range }) => range),
    ...survey.unreadable.map(({ pool }) => pool),
  ])
  return {
    installation,
    options,
    pairs,
    needed: pairs.filter(
      ({ range, vnet, bridge }) =>
        range === undefined || vnets.has(vnet) || bridges.has(bridge) || populated.has(range.id) || used.has(bridge),
    ),
    survey,
    zone: installation.zones.find(({ name }) => name === options.zone),
    vnets,
    bridges,
    strangers: byNetwork(strangers),
    dark: new Set(strangers.filter(({ nics }) => nics === undefined).map(({ node }) => node)),
    inUse: new Set(
      survey.own.flatMap(({ machine }) => [...networksOf(machine)].map((network) => placeOf(machine.node, network))),
    ),
  }
}

/** The state of a network's VNet. */
export type VnetState =
  | "missing"
  /** Configured as wanted, but not applied or not on every node yet. */
  | "pending"
  | "usable"
  /** Somebody else's; `unfit`: not as required. */
  | "foreign"
  | "unfit"

/** Whether an alias is one of ours: it starts with that word, as deploys write it. */
export const isOurAlias = (alias: string): boolean => /^\s*rangewright\b/iu.test(alias)

/**
 * The state of a network's VNet. A range's is recognized by its alias, and never taken over without it. The outside network belongs to the
 * installation: administrators create its VNet too, and any that is VLAN-aware and in the zone is accepted.
 */
export const vnetState = ({ vnets, options }: Pick<MigrationPicture, "vnets" | "options">, pair: NetworkPair): VnetState => {
  const vnet = vnets.get(pair.vnet)
  if (vnet === undefined) return "missing"
  if (pair.range !== undefined && vnet.alias.trim() !== pair.alias) return "foreign"
  const fits = vnet.zone === options.zone && vnet.vlanAware && (pair.range === undefined || vnet.tag === pair.tag)
  if (!fits || vnet.state === "deleted") return "unfit"
  return vnet.state === undefined && vnet.missingOn.length === 0 ? "usable" : "pending"
}

/** The nodes that a zone spans. */
export const zoneNodes = (zone: InstallationZone | undefined, { nodes }: Pick<Installation, "nodes">): readonly string[] =>
  zone === undefined || zone.nodes.length === 0 ? nodes.map(({ name }) => name) : zone.nodes
