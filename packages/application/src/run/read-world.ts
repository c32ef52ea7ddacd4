import {
  type DeployInput,
  findSnapshot,
  isCluster,
  type MachineDetail,
  type MachineSettings,
  natNetworkName,
  type ObservedCluster,
  type ObservedMachine,
  type PlanNetwork,
  type PlanSettings,
  type PlanWorld,
  type Range,
  rangeMembers,
  type SnapshotTree,
  templatesToRead,
  type Vmid,
} from "@rangewright/domain"
import {
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  type HypervisorFault,
  Machines,
  type ObservedNetwork,
  type OwedSettings,
  type RangeMachine,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { confirmAbsence } from "../absence/confirm-absence.ts"
import type { SettingsShape } from "../settings.ts"

/** Concurrent reads of VM configurations. */
const readsAtOnce = 4

export const planSettings = (
  settings: SettingsShape,
  cluster: ObservedCluster,
): Effect.Effect<PlanSettings, never, GuestAutomation> =>
  Effect.map(GuestAutomation, ({ leftOut = false, overNetwork = false }) => {
    const clusterMode = isCluster(settings.clusterMode, cluster.nodes)
    return {
      clusterMode,
      sdnZone: settings.sdnZone,
      vxlanTagBase: settings.vxlanTagBase,
      natNetwork: settings.natNetwork ?? natNetworkName(clusterMode),
      defaultNode: settings.defaultNode,
      vmStorage: settings.vmStorage,
      guestsLeftOut: leftOut,
      guestsOverNetwork: overNetwork,
      protectedAddresses: settings.protectedAddresses,
      templatesWithLogin: new Set(settings.templateLogins?.keys()),
    }
  })

/** The configurations of these VMs, one read each unless known; without those that are gone meanwhile. */
const detailsOf = (
  machines: readonly Pick<ObservedMachine, "node" | "vmid">[],
  known: ReadonlyMap<Vmid, MachineDetail> = new Map(),
): Effect.Effect<ReadonlyMap<Vmid, MachineDetail>, HypervisorFault, Hypervisor> =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const read = ({ node, vmid }: Pick<ObservedMachine, "node" | "vmid">) => {
      const detail = known.get(vmid)
      return (detail?.node === node ? Effect.succeed(detail) : hypervisor.detail(node, vmid)).pipe(
        Effect.map((detail) => [[vmid, detail] as const]),
        // also skips a VM whose node is down now: the plan says what that means
        Effect.catch((fault) =>
          fault.facts.reason === "not-found" || fault.facts.reason === "away" ? Effect.succeed([]) : Effect.fail(fault),
        ),
      )
    }
    const details = yield* Effect.forEach(machines, read, { concurrency: readsAtOnce })
    return new Map(details.flat())
  })

const planNetwork = ({ spec, usable, ours }: ObservedNetwork): PlanNetwork => ({
  name: spec.name,
  node: spec.type === "bridge" ? spec.node : undefined,
  usable,
  ours,
})

/** Looks up machines of the range that the store knows and the list lacks, each by itself, since absence from a list proves nothing. */
const seekLost = (
  range: Pick<Range, "id">,
  cluster: ObservedCluster,
  kept: readonly RangeMachine[],
  stages: ReadonlyMap<Vmid, unknown>,
) =>
  Effect.gen(function* () {
    const listed = new Set(cluster.machines.map(({ vmid }) => vmid))
    const known = new Map(kept.map((machine) => [machine.vmid, machine]))
    const lost = [...new Set([...known.keys(), ...stages.keys()])].filter((vmid) => !listed.has(vmid))
    const found = yield* confirmAbsence(lost.map((vmid) => ({ vmid, node: known.get(vmid)?.node })))
    const there = [...found].flatMap(([vmid, sought]): readonly ObservedMachine[] => {
      if (sought.type === "absent") return []
      const seen = sought.type === "there" ? { node: sought.node, power: sought.power } : {}
      return [{ ...(known.get(vmid) ?? bareMachine(range.id, vmid)), ...seen }]
    })
    return {
      cluster: { ...cluster, machines: [...cluster.machines, ...there] },
      unsure: new Map([...found].flatMap(([vmid, sought]) => (sought.type === "unknown" ? [[vmid, sought.why]] : []))),
      gone: [...found].flatMap(([vmid, { type }]) => (type === "absent" ? [vmid] : [])),
    }
  })

/** A machine of which only its stages are known. */
const bareMachine = (pool: string, vmid: Vmid): ObservedMachine => ({
  vmid,
  node: "",
  name: undefined,
  power: "unknown",
  template: false,
  pool,
  cpus: 0,
  memoryMiB: 0,
  tags: [],
})

/** The owed settings, without those of machines that have not been rolled back since. */
const owedNow = (
  owed: ReadonlyMap<Vmid, OwedSettings>,
  details: ReadonlyMap<Vmid, MachineDetail>,
): ReadonlyMap<Vmid, MachineSettings> =>
  new Map(
    [...owed].flatMap(([vmid, { settings, generation }]) =>
      generation !== undefined && details.get(vmid)?.generation === generation ? [] : [[vmid, settings] as const],
    ),
  )

export interface WorldRead {
  /** Forgets machines that are certainly gone, so that a new one with their VMID starts afresh. */
  readonly forget: boolean
  /** Configurations that were just read, and are not read again. */
  readonly details?: ReadonlyMap<Vmid, MachineDetail> | undefined
}

/**
 * The cluster with the power that these machines have now, one read each. Its list shows it some seconds late, and what this process knows of
 * its own changes is not all: machines are also switched by other instances, by hand and by their guests.
 */
const withLivePower = Effect.fnUntraced(function* (cluster: ObservedCluster, wanted: readonly ObservedMachine[]) {
  const hypervisor = yield* Hypervisor
  const read = ({ node, vmid }: ObservedMachine) =>
    Effect.map(hypervisor.seek(vmid, node), (found) => [vmid, found.type === "there" ? found.power : "unknown"] as const)
  const live = new Map(yield* Effect.forEach(wanted, read, { concurrency: readsAtOnce }))
  return { ...cluster, machines: cluster.machines.map((one) => ({ ...one, power: live.get(one.vmid) ?? one.power })) }
})

/** The current state of a range's machines: the cluster, their configurations and power, and what is stored about them. */
export const readMachines = (
  range: Pick<Range, "id">,
  observed: ObservedCluster,
  { forget, details: known }: WorldRead = { forget: false },
) =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const kept = yield* machines.ofRange(range.id)
    const stages = yield* machines.stages(range.id)
    const { cluster, unsure, gone } = yield* seekLost(range, observed, kept, stages)
    if (forget) yield* Effect.forEach(gone, machines.forget, { discard: true })
    const online = new Set(cluster.nodes.filter(({ online }) => online).map(({ name }) => name))
    const reservations = yield* machines.reservations(range.id)
    const own = rangeMembers(range.id, { cluster, reservations }).filter(
      ({ node, vmid }) => online.has(node) && !unsure.has(vmid),
    )
    const details = yield* detailsOf(own, known)
    const world: PlanWorld = {
      cluster: yield* withLivePower(cluster, own),
      details,
      owed: owedNow(yield* machines.owed(range.id), details),
      networks: [],
      poolExists: false,
      addresses: new Map(kept.flatMap(({ vmid, address }) => (address === undefined ? [] : [[vmid, address]]))),
      foreignAddresses: new Map(
        kept.flatMap(({ vmid, foreignAddresses }) => (foreignAddresses ? [[vmid, foreignAddresses]] : [])),
      ),
      systems: yield* machines.systems(range.id),
      stages: new Map([...stages].filter(([vmid]) => !gone.includes(vmid))),
      reservations,
      unsure,
      doubt: (yield* machines.freshness).doubt?.reason,
    }
    return world
  })

/** The same with networks and pool: at most two more reads. */
export const readRange = (range: Pick<Range, "id" | "number">, cluster: ObservedCluster, read: WorldRead) =>
  Effect.gen(function* () {
    const access = yield* HypervisorAccess
    const network = yield* HypervisorNetwork
    const world = yield* readMachines(range, cluster, read)
    const networks = (yield* network.observe).map(planNetwork)
    // a member proves that it exists, without a call
    const poolExists = cluster.machines.some(({ pool }) => pool === range.id) || (yield* access.poolExists(range.id))
    return { ...world, networks, poolExists } satisfies PlanWorld
  })

/** Queries each of these machines whose configuration could be read; without those that cannot be reached now. */
const askEach = <A>(
  { details }: PlanWorld,
  vmids: readonly Vmid[],
  ask: (node: string, vmid: Vmid) => Effect.Effect<A, HypervisorFault>,
): Effect.Effect<ReadonlyMap<Vmid, A>, HypervisorFault> =>
  Effect.map(
    Effect.forEach(
      vmids.flatMap((vmid) => details.get(vmid) ?? []),
      ({ node, vmid }) =>
        ask(node, vmid).pipe(
          Effect.map((answer) => [[vmid, answer] as const]),
          Effect.catch((fault) =>
            fault.facts.reason === "not-found" || fault.facts.reason === "away" ? Effect.succeed([]) : Effect.fail(fault),
          ),
        ),
      { concurrency: readsAtOnce },
    ),
    (answers) => new Map(answers.flat()),
  )

/** The snapshots of these machines, one read each. */
export const snapshotsOf = (world: PlanWorld, vmids: readonly Vmid[]) =>
  Hypervisor.use(({ snapshots }) => askEach(world, vmids, snapshots))

/** The network cards that these machines had in the snapshot of this name, for each machine whose snapshot has memory; one read each. */
export const cardsWithMemory = (world: PlanWorld, trees: ReadonlyMap<Vmid, SnapshotTree>, name: string) =>
  Hypervisor.use(({ snapshotCards }) =>
    askEach(
      world,
      [...trees].flatMap(([vmid, tree]) => (findSnapshot(tree, name)?.memory === true ? [vmid] : [])),
      (node, vmid) => snapshotCards(node, vmid, name),
    ),
  )

/** The machines among these with a disk that does not support snapshots, one read each. */
export const incapableOf = (world: PlanWorld, vmids: readonly Vmid[]) =>
  Effect.map(
    Hypervisor.use(({ canSnapshot }) => askEach(world, vmids, canSnapshot)),
    (able): ReadonlySet<Vmid> => new Set([...able].flatMap(([vmid, can]) => (can ? [] : [vmid]))),
  )

/** The input with the configurations of the templates that it will clone. */
export const withTemplates = (input: DeployInput): Effect.Effect<DeployInput, HypervisorFault, Hypervisor> =>
  Effect.gen(function* () {
    const wanted = new Set(templatesToRead(input))
    const templates = yield* detailsOf(input.world.cluster.machines.filter(({ vmid }) => wanted.has(vmid)))
    return { ...input, world: { ...input.world, details: new Map([...input.world.details, ...templates]) } }
  })
