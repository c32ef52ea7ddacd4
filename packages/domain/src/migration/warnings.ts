import { slots, timing } from "../plan/timing.ts"
import { secondsText } from "../plan/explain.ts"
import type { InstallationMachine } from "./installation.ts"
import { groupBy } from "../group-by.ts"
import { machineLabel, networksOf } from "./machines.ts"
import type { Mover } from "./moves.ts"
import { nicMtu, nicNetwork, type NicText } from "./nic.ts"
import { routerWarnings } from "./outside.ts"
import { type MigrationPicture, zoneNodes } from "./picture.ts"
import { vxlanMtu } from "./zone.ts"

const networksIn = (nics: readonly NicText[], of: ReadonlySet<string>): readonly string[] =>
  [...new Set(nics.flatMap(({ text }) => nicNetwork(text) ?? []))].filter((network) => of.has(network)).sort()

/** Other people's machines on a network that ours leave. */
const strangerWarnings = ({ strangers }: MigrationPicture, leaving: ReadonlySet<string>): readonly string[] => {
  const all = new Set([...leaving].flatMap((network) => strangers.get(network) ?? []))
  return [...all].map(
    (machine) =>
      `${machineLabel(machine)} is attached to ${networksIn(machine.nics ?? [], leaving).join(", ")}, is in none of our pools, and stays there: it will no longer reach the machines that move`,
  )
}

const snapshotWarning = (machine: InstallationMachine, leaving: ReadonlySet<string>): readonly string[] => {
  const named = machine.snapshots.flatMap(({ name, nics }) => {
    const networks = networksIn(nics, leaving)
    return networks.length === 0 ? [] : [`${name} (${networks.join(", ")})`]
  })
  if (named.length === 0) return []
  return [
    `${machineLabel(machine)} has snapshots with networks that are being replaced: ${named.join(", ")}. A rollback to one of them puts its cards back on that network; running this again moves them`,
  ]
}

/** Snapshots and templates that refer to a network that machines leave. */
const memoryWarnings = ({ survey }: MigrationPicture, leaving: ReadonlySet<string>): readonly string[] => [
  ...survey.own.flatMap(({ machine }) => snapshotWarning(machine, leaving)),
  ...survey.templates.flatMap((machine) => {
    const networks = networksIn(machine.nics ?? [], leaving)
    return networks.length === 0
      ? []
      : [
          `the template ${machineLabel(machine)} names ${networks.join(", ")}: machines that this service creates from it get their own network, manual copies do not`,
        ]
  }),
]

/** How long some machines of a range have moved while others have not. */
const splitWarning = (movers: readonly Mover[]): readonly string[] => {
  const ranges = [...groupBy(movers, ({ own }) => own.range).entries()].flatMap(([range, list]) =>
    range === undefined
      ? []
      : [{ range, busiest: Math.max(...[...groupBy(list, ({ own }) => own.machine.node).values()].map((l) => l.length)) }],
  )
  const worst = ranges.reduce<(typeof ranges)[number] | undefined>(
    (w, r) => (w === undefined || r.busiest > w.busiest ? r : w),
    undefined,
  )
  if (worst === undefined || !movers.some(({ own }) => own.machine.running)) return []
  const longest = Math.ceil(worst.busiest / slots.move) * timing.moveNics
  return [
    `each running machine briefly loses its network while it moves, and machines of a range may not reach each other for up to ${secondsText(longest)} (range ${worst.range})`,
  ]
}

const mtuWarnings = (picture: MigrationPicture, movers: readonly Mover[]): readonly string[] => {
  if (movers.length === 0) return []
  const mtu = picture.zone?.mtu ?? vxlanMtu
  const larger = movers.flatMap(({ own: { machine }, nics }) => {
    const moved = new Set(nics.map(({ nic }) => nic))
    return (machine.nics ?? [])
      .filter(({ nic, text }) => moved.has(nic) && (nicMtu(text) ?? 0) > mtu)
      .map(
        ({ nic, text }) =>
          `${nic} of ${machineLabel(machine)} has an MTU of ${nicMtu(text)}, and will not start on a network with ${mtu}`,
      )
  })
  return [
    `VNets have an MTU of ${mtu}, bridges usually 1500: machines only notice that when they restart, and until then large packets may be lost between nodes`,
    ...larger,
  ]
}

const zoneWarnings = ({ zone, installation }: MigrationPicture): readonly string[] => {
  if (zone === undefined) return []
  const spans = new Set(zoneNodes(zone, installation))
  const outside = installation.nodes.filter(({ name }) => !spans.has(name)).map(({ name }) => name)
  const peers = new Set(zone.peers)
  const unnamed =
    zone.peers.length === 0
      ? []
      : installation.nodes
          .filter(({ address }) => address !== undefined && !peers.has(address))
          .map(({ name, address }) => `${name} (${address})`)
  return [
    ...(outside.length === 0
      ? []
      : [`the zone ${zone.name} does not include ${outside.sort().join(", ")}: no machine of a range can be placed there`]),
    ...(unnamed.length === 0
      ? []
      : [
          `the peers of the zone ${zone.name} do not include the cluster addresses of ${unnamed.sort().join(", ")}: make sure that they include other addresses of these nodes`,
        ]),
  ]
}

/** Warnings to read before machines leave these networks. */
export const moveWarnings = (
  picture: MigrationPicture,
  movers: readonly Mover[],
  leaving: ReadonlySet<string>,
): readonly string[] => [...splitWarning(movers), ...strangerWarnings(picture, leaving), ...memoryWarnings(picture, leaving)]

export const sdnWarnings = (picture: MigrationPicture, movers: readonly Mover[]): readonly string[] => [
  ...mtuWarnings(picture, movers),
  ...zoneWarnings(picture),
  ...routerWarnings(picture),
]

/** Other people's machines that are attached to this network on this node. */
export const strangersOn = ({ strangers }: MigrationPicture, node: string, network: string): readonly InstallationMachine[] =>
  (strangers.get(network) ?? []).filter((machine) => machine.node === node && networksOf(machine).has(network))
