import type { Installation, InstallationBridge, MigrationOptions } from "./installation.ts"
import { groupBy } from "../group-by.ts"
import { bridgeAddressStep, gatewayObstacles, type HostSteps, hostSteps, isOwnAddressEdit, steeredGateway } from "./host.ts"
import type { NetworkPair } from "./layout.ts"
import { byHandToBridge } from "./host-by-hand.ts"
import { isRecorded, machineLabel } from "./machines.ts"
import { nicNetwork } from "./nic.ts"
import { moveOf, type Mover, moversOf } from "./moves.ts"
import { nameObstacles, pendingSdn } from "./obstacles.ts"
import { asRecorded } from "./outside.ts"
import { type MigrationPicture, migrationPicture, placeOf } from "./picture.ts"
import type { MigrationBlocker, MigrationPlan, MigrationStep } from "./plan.ts"
import { machineObstacles, nodeObstacles, pendingNetwork } from "./state-obstacles.ts"
import { estimateOf, migrationStep, moveSteps, networksStep } from "./steps.ts"
import { idlePlan } from "./to-sdn.ts"
import { moveWarnings } from "./warnings.ts"

/** What the way back needs beyond the picture. */
interface WayBack extends MigrationPicture {
  readonly movers: readonly Mover[]
  /** Bridges to create, each on its node. */
  readonly missing: readonly InstallationBridge[]
  /** VNets to remove: those that a migration created, and those of ranges made since. */
  readonly surplus: readonly NetworkPair[]
}

/**
 * Plans the return of a migrated installation to bridges, from the record that the migration saved: the same moves backwards. Ranges
 * made since get bridges too. There is nothing to do when no machine is on a VNet and no VNet of ours is left.
 */
export const planReturn = (installation: Installation, options: MigrationOptions): MigrationPlan => {
  if (!options.clusterMode) return idlePlan("to-bridges", "single-node")
  const way = wayBack(migrationPicture(installation, asRecorded(installation, options)))
  if (installation.record === undefined)
    return way.movers.length === 0 && way.surplus.length === 0 ? idlePlan("to-bridges", "done") : planOf(way, [noRecord], [])
  const made = bridgeSteps(way)
  const host = hostSteps(way, way.movers, {
    from: way.options.natVnet,
    to: way.options.natBridge,
    after: made.flatMap(({ key, action }) => (action.kind === "reload-network" ? [key] : [])),
  })
  const vnets = way.pairs.map(({ vnet }) => vnet)
  const work = [...made, ...host.prepare, ...moveSteps(way.movers, vnets), ...host.move, ...host.leave, ...sdnSteps(way, host)]
  const stuck = [...machineObstacles(way, way.movers, new Set(way.pairs.map(({ vnet }) => vnet))), ...way.unreachable]
  if (work.length === 0 && stuck.length === 0 && way.survey.unreadable.length === 0) {
    const byHand = strays(way)
    // everything is as it was: the record is no longer needed
    return byHand.length === 0 ? planOf(way, [], [dropStep([])]) : { ...idlePlan("to-bridges", "done"), byHand }
  }
  const blockers = [...obstacles(way, work), ...stuck]
  return planOf(way, blockers, blockers.length > 0 ? [] : ordered(way, work))
}

const noRecord: MigrationBlocker = {
  code: "no-record",
  message: "no migration has recorded the bridges",
  hint: "An installation that started with VNets cannot be rolled back; create the bridges and move the machines by hand.",
}

type Way = WayBack & { readonly unreachable: readonly MigrationBlocker[] }

const wayBack = (picture: MigrationPicture): Way => {
  const { installation, pairs, survey } = picture
  const record = installation.record
  const movers = moversOf(survey.own, new Map(pairs.map(({ vnet, bridge }) => [vnet, bridge])))
  const there = new Set(installation.bridges.map(({ node, name }) => placeOf(node, name)))
  const ofMovers = bridgesFor(movers, record?.bridges ?? [], installation.bridges)
  const missing = [...ofMovers.bridges, ...(record?.bridges ?? [])].filter(({ node, name }) => !there.has(placeOf(node, name)))
  const made = new Set(record?.madeVnets)
  const surplus = pairs.filter((pair) => {
    const vnet = picture.vnets.get(pair.vnet)
    if (vnet === undefined || vnet.alias.trim() !== pair.alias || (picture.strangers.get(pair.vnet) ?? []).length > 0)
      return false
    return made.has(pair.vnet) || pair.range !== undefined
  })
  const unique = new Map(missing.map((bridge) => [placeOf(bridge.node, bridge.name), bridge]))
  return { ...picture, movers, missing: [...unique.values()], surplus, unreachable: ofMovers.unreachable }
}

/**
 * Bridges that the moves need and no record has: those of ranges made since, on the one node where the range is. A bridge exists on one
 * node only, so a machine on another node than its network's bridge cannot be attached to it.
 */
const bridgesFor = (
  movers: readonly Mover[],
  recorded: readonly InstallationBridge[],
  present: readonly InstallationBridge[],
): { readonly bridges: readonly InstallationBridge[]; readonly unreachable: readonly MigrationBlocker[] } => {
  const known = groupBy([...recorded, ...present], ({ name }) => name)
  const needs = movers.flatMap(({ own, nics }) =>
    [...new Set(nics.map(({ to }) => to))].map((name) => ({ name, machine: own.machine })),
  )
  const bridges: InstallationBridge[] = []
  const unreachable: MigrationBlocker[] = []
  for (const [name, machines] of groupBy(needs, (need) => need.name)) {
    const [first] = machines
    const nodes = new Set(known.get(name)?.map(({ node }) => node))
    if (nodes.size === 0 && first !== undefined) {
      nodes.add(first.machine.node)
      bridges.push({ node: first.machine.node, name, ports: [], address: undefined, settings: {} })
    }
    for (const { machine } of machines)
      if (!nodes.has(machine.node))
        unreachable.push({
          code: "machine-out-of-reach",
          message: `${machineLabel(machine)} is not on ${[...nodes].join(" or ")}, where the bridge ${name} is`,
          hint: `Migrate VM ${machine.vmid} to node ${[...nodes][0] ?? "of its range"} first.`,
        })
  }
  return { bridges, unreachable }
}

const obstacles = (way: Way, work: readonly MigrationStep[]): readonly MigrationBlocker[] => {
  const { nodes } = way.installation
  const applies = work.some(({ action }) => action.kind === "apply-sdn")
  const making = new Set(way.missing.map(({ node, name }) => placeOf(node, name)))
  const reloaded = new Set(work.flatMap(({ action }) => (action.kind === "reload-network" ? [action.node] : [])))
  const old = new Set(way.pairs.map(({ bridge }) => bridge))
  return [
    ...nameObstacles(way),
    ...nodeObstacles(way, applies || reloaded.size > 0),
    ...gatewayObstacles(way),
    ...(applies ? pendingSdn(way, new Set(way.surplus.map(({ vnet }) => vnet))) : []),
    ...pendingNetwork(
      applies ? nodes : nodes.filter(({ name }) => reloaded.has(name)),
      // removed by a migration that did not get to the reload, and about to be created again; or created or changed already
      (node, edit) =>
        edit.change === "changed"
          ? isOwnAddressEdit(way, node, edit.name, "recorded")
          : old.has(edit.name) && (making.has(placeOf(node, edit.name)) || edit.change === "added"),
    ),
  ]
}

const bridgeSteps = (way: Way): readonly MigrationStep[] => {
  const { missing, installation } = way
  const pending = new Map(installation.nodes.map(({ name, pending: edits }) => [name, edits]))
  const recorded = new Set(installation.record?.bridges.map(({ node, name }) => placeOf(node, name)))
  const made = groupBy(missing, ({ node }) => node)
  const gateway = steeredGateway(way)?.node
  const addressStep = bridgeAddressStep(way, "recorded", { phase: "prepare", after: [] })
  return installation.nodes.flatMap(({ name: node }) => {
    const creates = (made.get(node) ?? []).map((bridge) =>
      migrationStep(
        {
          key: `create-bridge:${node}/${bridge.name}`,
          title: `Create bridge ${bridge.name} on node ${node} again`,
          phase: "prepare",
          after: [],
        },
        { kind: "create-bridge", bridge },
      ),
    )
    const address = node === gateway && addressStep !== undefined ? [addressStep] : []
    const waiting = (pending.get(node) ?? []).filter(({ name, change }) =>
      change === "changed"
        ? isOwnAddressEdit(way, node, name, "recorded")
        : change === "added" && recorded.has(placeOf(node, name)),
    )
    const expects = [...(made.get(node) ?? []), ...waiting, ...address.map(() => ({ name: way.options.natBridge }))]
    if (expects.length === 0) return []
    const written = [...creates, ...address]
    const reload = migrationStep(
      {
        key: `reload-network:${node}`,
        title: `Reload the network of node ${node}`,
        phase: "prepare",
        after: written.map(({ key }) => key),
      },
      { kind: "reload-network", node, present: [...new Set(expects.map(({ name }) => name))].sort(), absent: [] },
    )
    return [...written, reload]
  })
}

/** Removes VNets that no machine uses any more, and the zone if a migration created it, with one apply for all. */
const sdnSteps = (way: Way, host: HostSteps): readonly MigrationStep[] => {
  const { surplus, movers, installation, vnets, options } = way
  const proofs = [...new Set(movers.map(({ own }) => own.machine.node))].map((node) => `verify-machines:${node}`)
  const after = [...(proofs.length === 0 ? ["verify-networks"] : proofs), ...host.leave.map(({ key }) => key)]
  const removed = new Set(surplus.map(({ vnet }) => vnet))
  const removals = surplus
    .filter(({ vnet }) => vnets.get(vnet)?.state !== "deleted")
    .map(({ vnet, alias, range }) =>
      migrationStep(
        { key: `remove-vnet:${vnet}`, title: `Remove VNet ${vnet}`, phase: "clean", after, range: range?.id },
        { kind: "remove-vnet", vnet, zone: vnets.get(vnet)?.zone ?? options.zone, alias },
      ),
    )
  const empty = installation.vnets.every(({ name, zone }) => zone !== options.zone || removed.has(name))
  const zone =
    installation.record?.madeZone === true && empty && way.zone !== undefined && way.zone.state !== "deleted"
      ? [
          migrationStep(
            {
              key: `remove-zone:${options.zone}`,
              title: `Remove the zone ${options.zone}`,
              phase: "clean",
              after: removals.length === 0 ? after : removals.map(({ key }) => key),
            },
            { kind: "remove-zone", zone: options.zone, peers: way.zone.peers },
          ),
        ]
      : []
  const written = [...removals, ...zone]
  const waits = surplus.some(({ vnet }) => vnets.get(vnet)?.state === "deleted") || way.zone?.state === "deleted"
  if (written.length === 0 && !waits) return []
  const apply = migrationStep(
    {
      key: "apply-sdn",
      title: "Apply the SDN changes on every node",
      phase: "clean",
      after: written.length === 0 ? after : written.map(({ key }) => key),
    },
    { kind: "apply-sdn", zone: options.zone, present: [], absent: [...removed].sort() },
  )
  return [...written, apply]
}

const ordered = (way: Way, work: readonly MigrationStep[]): readonly MigrationStep[] => {
  const prepare = work.filter(({ phase }) => phase === "prepare")
  const uses = groupBy(
    way.movers.flatMap(({ own, nics }) => nics.map(({ to }) => ({ network: to, node: own.machine.node }))),
    ({ network }) => network,
  )
  const networks = [...uses].map(([network, list]) => ({ network, nodes: [...new Set(list.map(({ node }) => node))].sort() }))
  const proof = networksStep(
    undefined,
    networks,
    prepare.map(({ key }) => key),
  )
  const rest = work.filter(({ phase }) => phase !== "prepare")
  const last = strays(way).length === 0 ? [dropStep(rest.length === 0 ? [proof.key] : rest.map(({ key }) => key))] : []
  return [...prepare, proof, ...rest, ...last]
}

/** Recorded cards that somebody has put on a third network since, to be moved by hand: the record stays while there are any. */
const strays = ({ installation, movers }: Way): readonly string[] => {
  const machines = new Map(installation.machines.map((machine) => [machine.vmid, machine]))
  const cardOf = (vmid: number, nic: string): string => `${vmid} ${nic}`
  const returning = new Map(
    movers.flatMap(({ own, nics }) => nics.map(({ nic, to }) => [cardOf(own.machine.vmid, nic), to] as const)),
  )
  return (installation.record?.machines ?? []).flatMap((recorded) => {
    const machine = machines.get(recorded.vmid)
    if (machine === undefined || !isRecorded(recorded, machine)) return []
    const now = new Map(machine.nics?.map(({ nic, text }) => [nic, text]))
    return recorded.nics.flatMap(({ nic, text }) => {
      const card = now.get(nic)
      const [before, network] = [nicNetwork(text), card === undefined ? undefined : nicNetwork(card)]
      if (card === undefined || network === before || returning.get(cardOf(machine.vmid, nic)) === before) return []
      return [
        `Put ${nic} of ${machineLabel(machine)} from ${network ?? "no network"} back on ${before ?? "none"}, where it was before the migration. The record is kept until then.`,
      ]
    })
  })
}

const dropStep = (after: readonly string[]): MigrationStep =>
  migrationStep(
    { key: "drop-record", title: "Delete the record of the migration", phase: "clean", after },
    { kind: "drop-record" },
  )

const planOf = (way: Way, blockers: readonly MigrationBlocker[], steps: readonly MigrationStep[]): MigrationPlan => {
  const changes = way.movers.length > 0 || blockers.length > 0
  return {
    direction: "to-bridges",
    idle: undefined,
    blockers,
    warnings: changes ? moveWarnings(way, way.movers, new Set(way.pairs.map(({ vnet }) => vnet))) : [],
    byHand: [...(changes ? byHandToBridge(way, steps) : []), ...strays(way)],
    machines: way.movers.map(moveOf),
    steps,
    estimate: estimateOf(steps),
  }
}
