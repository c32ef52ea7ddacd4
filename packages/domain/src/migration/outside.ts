import { isRouter } from "../machine/router.ts"
import { bridgeName } from "../network/addressing.ts"
import type { Installation, InstallationBridge, InstallationMachine, MigrationOptions } from "./installation.ts"
import { machineLabel, type MachineSurvey, surveyMachines } from "./machines.ts"
import { nicNetwork } from "./nic.ts"
import type { MigrationPicture } from "./picture.ts"
import type { MigrationBlocker } from "./plan.ts"

/** The options with which the recorded migration was carried out: the settings may have changed since. */
export const asRecorded = ({ record }: Pick<Installation, "record">, options: MigrationOptions): MigrationOptions => ({
  ...options,
  zone: record?.zone ?? options.zone,
  natBridge: record?.natBridge ?? options.natBridge,
  natVnet: record?.natVnet ?? options.natVnet,
})

interface RouterOutside {
  readonly machine: InstallationMachine
  readonly bridge: InstallationBridge
}

/** Routers whose way to the outside, net0, is on a bridge: not on a VNet, nor on the network of a range. */
const routersOnBridges = (
  { bridges, vnets, ranges }: Pick<Installation, "bridges" | "vnets" | "ranges">,
  { own }: Pick<MachineSurvey, "own">,
): readonly RouterOutside[] => {
  const elsewhere = new Set([...vnets.map(({ name }) => name), ...ranges.map(({ number }) => bridgeName(number))])
  const places = new Map(bridges.map((bridge) => [`${bridge.node}\n${bridge.name}`, bridge]))
  return own.flatMap(({ machine, range }) => {
    if (range === undefined || !isRouter(machine, range)) return []
    const network = nicNetwork(machine.nics?.find(({ nic }) => nic === "net0")?.text ?? "")
    const bridge = network === undefined || elsewhere.has(network) ? undefined : places.get(`${machine.node}\n${network}`)
    return bridge === undefined ? [] : [{ machine, bridge }]
  })
}

/**
 * The options with the outside bridge that exists. The first generation let its operator name it, and that setting now names the VNet: the
 * bridge is the one that every router is attached to. A bridge with ports is the operator's own network, never our outside network.
 */
export const asFound = (installation: Installation, options: MigrationOptions): MigrationOptions => {
  const recorded = installation.record?.natBridge
  if (recorded !== undefined) return { ...options, natBridge: recorded }
  const found = new Set(
    routersOnBridges(installation, surveyMachines(installation))
      .filter(({ bridge }) => bridge.ports.length === 0)
      .map(({ bridge }) => bridge.name),
  )
  const [only] = found
  return only === undefined || found.size > 1 ? options : { ...options, natBridge: only }
}

const isElsewhere = ({ options }: MigrationPicture, { bridge }: RouterOutside): boolean => bridge.name !== options.natBridge

/** Routers on another outside bridge than the one that moves: their ranges would be split in two. */
export const routerObstacles = (picture: MigrationPicture): readonly MigrationBlocker[] =>
  routersOnBridges(picture.installation, picture.survey)
    .filter((router) => isElsewhere(picture, router) && router.bridge.ports.length === 0)
    .map(({ machine, bridge }) => ({
      code: "router-elsewhere",
      message: `the router ${machineLabel(machine)} reaches the outside through ${bridge.name}, and others through ${picture.options.natBridge}`,
      hint: `Put net0 of VM ${machine.vmid} on ${picture.options.natBridge}: only one outside network can be moved.`,
    }))

/** Routers on the operator's own network. */
export const routerWarnings = (picture: MigrationPicture): readonly string[] =>
  routersOnBridges(picture.installation, picture.survey)
    .filter((router) => isElsewhere(picture, router) && router.bridge.ports.length > 0)
    .map(
      ({ machine, bridge }) =>
        `the router ${machineLabel(machine)} reaches the outside through ${bridge.name}, which has the ports ${bridge.ports.join(", ")}, so it stays on it`,
    )
