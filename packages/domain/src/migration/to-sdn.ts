import type { Installation, InstallationBridge, MigrationOptions, PendingInterface } from "./installation.ts"
import { groupBy } from "../group-by.ts"
import {
  bridgeAddressStep,
  gatewayObstacles,
  type HostSteps,
  hostSteps,
  isOwnAddressEdit,
  leftKeys,
  steeredGateway,
} from "./host.ts"
import { withoutLeftovers } from "./leftovers.ts"
import { byHandToVnet } from "./host-by-hand.ts"
import { natNetworkName } from "../network/addressing.ts"
import { machineLabel } from "./machines.ts"
import { moveOf, type Mover, moversOf } from "./moves.ts"
import { nameObstacles, pendingSdn, tagObstacles, vnetObstacles, zoneObstacles } from "./obstacles.ts"
import { asFound, routerObstacles } from "./outside.ts"
import { type MigrationPicture, migrationPicture, placeOf, vnetState, zoneNodes } from "./picture.ts"
import type { MigrationBlocker, MigrationPlan, MigrationStep } from "./plan.ts"
import { sameRecord, takeRecord } from "./record.ts"
import { machineObstacles, nodeObstacles, pendingNetwork } from "./state-obstacles.ts"
import { estimateOf, migrationStep, moveSteps, networksStep } from "./steps.ts"
import { moveWarnings, sdnWarnings, strangersOn } from "./warnings.ts"
import { zoneToMake } from "./zone.ts"

/** A plan without steps. */
export const idlePlan = (direction: MigrationPlan["direction"], idle: NonNullable<MigrationPlan["idle"]>): MigrationPlan => ({
  direction,
  idle,
  blockers: [],
  warnings: [],
  byHand: [],
  machines: [],
  steps: [],
  estimate: 0,
})

/**
 * Plans the move of an installation from bridges to VNets. Pure: the same installation gives the same plan, and an installation on which
 * the plan was carried out gives an empty one. Only machines in the pools of ranges and of the service, or with our mark, move; only old
 * bridges of ours are removed, and only when nothing is left on them.
 */
export const planMigration = (found: Installation, options: MigrationOptions): MigrationPlan => {
  if (!options.clusterMode) return idlePlan("to-sdn", "single-node")
  const { installation, reverts } = withoutLeftovers(found)
  const picture = migrationPicture(installation, asFound(installation, options))
  const leaving = new Set(picture.pairs.map(({ bridge }) => bridge))
  const movers = moversOf(picture.survey.own, new Map(picture.pairs.map(({ bridge, vnet }) => [bridge, vnet])))
  const prepare = [...reverts, ...prepareSteps(picture, reverts)]
  const host = hostSteps(picture, movers, {
    from: picture.options.natBridge,
    to: picture.options.natVnet,
    after: prepare.some(({ key }) => key === "apply-sdn") ? ["apply-sdn"] : [],
  })
  const moves = [...moveSteps(movers, [...leaving]), ...host.move]
  const work = [...prepare, ...host.prepare, ...moves, ...cleanSteps(picture, movers, host)]
  const machines = machineObstacles(picture, movers, leaving)
  const vnets = vnetObstacles(picture)
  const byHand = byHandToVnet(picture, work)
  const stuck = machines.length + vnets.length + picture.survey.unreadable.length
  if (work.length === 0 && stuck === 0) return { ...idlePlan("to-sdn", "done"), byHand }
  const blockers = [...sdnObstacles(picture, movers, work, vnets), ...machines]
  const steps = blockers.length > 0 ? [] : ordered(picture, movers, work)
  return {
    direction: "to-sdn",
    idle: undefined,
    blockers,
    warnings: [...moveWarnings(picture, movers, leaving), ...sdnWarnings(picture, movers), ...keptBridges(picture)],
    byHand,
    machines: movers.map(moveOf),
    steps,
    estimate: estimateOf(steps),
  }
}

const sdnObstacles = (
  picture: MigrationPicture,
  movers: readonly Mover[],
  work: readonly MigrationStep[],
  vnets: readonly MigrationBlocker[],
): readonly MigrationBlocker[] => {
  const { nodes } = picture.installation
  const applies = work.some(({ action }) => action.kind === "apply-sdn")
  const reloaded = new Set(work.flatMap(({ action }) => (action.kind === "reload-network" ? [action.node] : [])))
  return [
    ...nameObstacles(picture),
    ...tagObstacles(picture),
    ...routerObstacles(picture),
    ...nodeObstacles(picture, applies || reloaded.size > 0),
    ...gatewayObstacles(picture),
    ...zoneObstacles(picture, movers),
    ...vnets,
    ...(applies ? pendingSdn(picture) : []),
    ...pendingNetwork(applies ? nodes : nodes.filter(({ name }) => reloaded.has(name)), (node, edit) =>
      isOwnEdit(picture, node, edit),
    ),
  ]
}

/** The removal of an old bridge that a migration has written to a node's configuration, with nothing attached to the bridge. */
const isOwnRemoval = (picture: MigrationPicture, node: string, { name, change }: PendingInterface): boolean =>
  change === "removed" &&
  picture.pairs.some(({ bridge }) => bridge === name) &&
  !picture.inUse.has(placeOf(node, name)) &&
  strangersOn(picture, node, name).length === 0

const isOwnEdit = (picture: MigrationPicture, node: string, edit: PendingInterface): boolean =>
  isOwnRemoval(picture, node, edit) || (edit.change === "changed" && isOwnAddressEdit(picture, node, edit.name, "none"))

/** Zone and VNets, one apply for all of them, and the rights to use them. */
const prepareSteps = (picture: MigrationPicture, reverts: readonly MigrationStep[]): readonly MigrationStep[] => {
  const { options, zone, installation, needed } = picture
  const states = new Map(needed.map((pair) => [pair, vnetState(picture, pair)]))
  const zoneStep =
    zone === undefined
      ? [
          migrationStep(
            { key: `create-zone:${options.zone}`, title: `Create the VXLAN zone ${options.zone}`, phase: "prepare", after: [] },
            { kind: "create-zone", zone: zoneToMake(options.zone, installation) },
          ),
        ]
      : []
  const vnets = needed
    .filter((pair) => states.get(pair) === "missing")
    .map((pair) =>
      migrationStep(
        {
          key: `create-vnet:${pair.vnet}`,
          title: `Create VNet ${pair.vnet} with the tag ${pair.tag}`,
          phase: "prepare",
          after: zoneStep.map(({ key }) => key),
          range: pair.range?.id,
        },
        { kind: "create-vnet", vnet: { name: pair.vnet, zone: options.zone, tag: pair.tag, alias: pair.alias } },
      ),
    )
  const written = [...zoneStep, ...vnets]
  const waits = zone?.state === "new" || [...states.values()].includes("pending")
  const expects = needed.filter((pair) => states.get(pair) !== "usable").map(({ vnet }) => vnet)
  const apply =
    written.length === 0 && !waits
      ? []
      : [
          migrationStep(
            {
              key: "apply-sdn",
              title: "Apply the SDN changes on every node",
              phase: "prepare",
              after: [...reverts, ...written].map(({ key }) => key),
            },
            { kind: "apply-sdn", zone: options.zone, present: expects, absent: [] },
          ),
        ]
  return [
    ...written,
    ...apply,
    ...grantSteps(
      picture,
      apply.map(({ key }) => key),
    ),
  ]
}

/** One call for each VNet on which a group lacks its right. */
const grantSteps = ({ needed, options, installation }: MigrationPicture, after: readonly string[]): readonly MigrationStep[] => {
  const held = new Set(
    installation.rights.flatMap(({ vnet, subject, name }) => (subject === "group" ? [`${vnet}\n${name}`] : [])),
  )
  return needed.flatMap(({ vnet, range }) => {
    const groups = [...new Set(range === undefined ? options.natGroups : range.groups)].sort()
    if (groups.every((name) => held.has(`${vnet}\n${name}`))) return []
    return [
      migrationStep(
        {
          key: `grant-vnet:${vnet}`,
          title: `Grant VNet ${vnet} to the users of ${range?.id ?? "the outside network"}`,
          phase: "prepare",
          after,
          range: range?.id,
        },
        { kind: "grant-vnet", zone: options.zone, vnet, groups },
      ),
    ]
  })
}

/** Why an old bridge stays; undefined: it is removed when our machines have left it. */
const whyKept = (picture: MigrationPicture, bridge: InstallationBridge): string | undefined => {
  if (bridge.ports.length > 0) return `it has the ports ${bridge.ports.join(", ")}`
  if (bridge.name === picture.options.natBridge && steeredGateway(picture)?.node === bridge.node)
    return "other settings may depend on it, such as masquerading"
  if (bridge.name === picture.options.natBridge && bridge.name !== natNetworkName(false))
    return "it was not created by this service"
  if (bridge.address !== undefined) return `the node has the address ${bridge.address} on it`
  const others = strangersOn(picture, bridge.node, bridge.name)
  if (others.length > 0)
    return `${others.slice(0, 3).map(machineLabel).join(", ")}, not ours, ${others.length === 1 ? "is" : "are"} attached to it`
  return picture.dark.has(bridge.node)
    ? "a machine on this node that is not ours cannot be read, and may be attached to it"
    : undefined
}

const oldBridges = ({ pairs, bridges }: MigrationPicture): readonly InstallationBridge[] =>
  pairs.flatMap(({ bridge }) => bridges.get(bridge) ?? [])

const keptBridges = (picture: MigrationPicture): readonly string[] =>
  oldBridges(picture).flatMap((bridge) => {
    const why = whyKept(picture, bridge)
    return why === undefined ? [] : [`the bridge ${bridge.name} on node ${bridge.node} stays: ${why}`]
  })

/** Removes unused old bridges and the outside bridge's address, with one reload for each node that loses any of these. */
const cleanSteps = (picture: MigrationPicture, movers: readonly Mover[], host: HostSteps): readonly MigrationStep[] => {
  const moving = new Set(movers.map(({ own }) => own.machine.node))
  const going = groupBy(
    oldBridges(picture).filter((bridge) => whyKept(picture, bridge) === undefined),
    ({ node }) => node,
  )
  const gateway = steeredGateway(picture)?.node
  const addressStep = bridgeAddressStep(picture, "none", { phase: "clean", after: leftKeys(movers, host.move) })
  const cleaned = picture.installation.nodes.flatMap(({ name: node, pending }) => {
    const own = pending.filter((edit) => isOwnEdit(picture, node, edit))
    const gone = (going.get(node) ?? []).map(({ name }) => name)
    const address = node === gateway && addressStep !== undefined ? [addressStep] : []
    if (own.length === 0 && gone.length === 0 && address.length === 0) return []
    const after = moving.has(node) ? [`verify-machines:${node}`] : ["verify-networks"]
    const removals = gone.map((bridge) =>
      migrationStep(
        { key: `remove-bridge:${node}/${bridge}`, title: `Remove bridge ${bridge} from node ${node}`, phase: "clean", after },
        { kind: "remove-bridge", node, bridge },
      ),
    )
    const written = [...removals, ...address]
    const left = own.filter(({ change }) => change === "removed").map(({ name }) => name)
    const changed = own.filter(({ change }) => change === "changed").map(({ name }) => name)
    const reload = migrationStep(
      {
        key: `reload-network:${node}`,
        title: `Reload the network of node ${node}`,
        phase: "clean",
        after: written.length > 0 ? written.map(({ key }) => key) : changed.length > 0 ? leftKeys(movers, host.move) : after,
      },
      {
        kind: "reload-network",
        node,
        present: [...new Set([...changed, ...address.map(() => picture.options.natBridge)])],
        absent: [...left, ...gone].sort(),
      },
    )
    return [...written, reload]
  })
  // the reload removes the address itself: if leave-host went first, a restarted run could not tell that the pending edit is ours
  const reloaded = cleaned.some(({ key }) => key === `reload-network:${gateway}`) ? [`reload-network:${gateway}`] : []
  return [...cleaned, ...host.leave.map((step) => ({ ...step, after: [...step.after, ...reloaded] }))]
}

/** Frames the work: the record comes first, and the networks are verified before anything uses them. */
const ordered = (
  picture: MigrationPicture,
  movers: readonly Mover[],
  work: readonly MigrationStep[],
): readonly MigrationStep[] => {
  const { installation, pairs, needed, options, zone, survey } = picture
  const made = work.flatMap(({ action }) => (action.kind === "create-vnet" ? [action.vnet.name] : []))
  const record = takeRecord(installation, pairs, survey.own, {
    zone: options.zone,
    natBridge: options.natBridge,
    natVnet: options.natVnet,
    madeZone: zone === undefined,
    madeVnets: made,
  })
  const keeps = installation.record !== undefined && sameRecord(installation.record, record)
  const first = keeps
    ? []
    : [
        migrationStep(
          { key: "save-record", title: "Save the current state", phase: "prepare", after: [] },
          { kind: "save-record", record },
        ),
      ]
  const afterFirst = first.map(({ key }) => key)
  const prepare = work
    .filter(({ phase }) => phase === "prepare")
    .map((step) => (step.after.length === 0 ? { ...step, after: afterFirst } : step))
  const nodes = zoneNodes(zone, installation)
  const networks = movers.length === 0 && prepare.length === 0 ? [] : needed.map(({ vnet }) => ({ network: vnet, nodes }))
  const proof = networksStep(options.zone, networks, prepare.length === 0 ? afterFirst : prepare.map(({ key }) => key))
  return [...first, ...prepare, proof, ...work.filter(({ phase }) => phase !== "prepare")]
}
