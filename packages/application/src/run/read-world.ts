import {
  type DeployInput,
  type Grant,
  type MachineDetail,
  natNetworkName,
  networkOf,
  type ObservedCluster,
  type ObservedMachine,
  type PlanNetwork,
  type PlanSettings,
  type PlanWorld,
  type Range,
  singleNode,
  rangeMembers,
  templatesToRead,
  type Vmid,
} from "@rangewright/domain"
import {
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  type HypervisorAccount,
  HypervisorNetwork,
  type HypervisorFault,
  Machines,
  type ObservedNetwork,
  type StorageFault,
  Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { SettingsShape } from "../settings.ts"

/** Configurations of VMs read at once. */
const readsAtOnce = 4

export const planSettings = (
  settings: SettingsShape,
  cluster: ObservedCluster,
): Effect.Effect<PlanSettings, never, GuestAutomation> =>
  Effect.map(GuestAutomation, ({ leftOut = false, overNetwork = false }) => {
    const clusterMode = settings.clusterMode ?? cluster.nodes.length > 1
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

/** Configurations of these VMs, one read each; without those that are gone meanwhile. */
const detailsOf = (
  machines: readonly Pick<ObservedMachine, "node" | "vmid">[],
): Effect.Effect<ReadonlyMap<Vmid, MachineDetail>, HypervisorFault, Hypervisor> =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const read = ({ node, vmid }: Pick<ObservedMachine, "node" | "vmid">) =>
      hypervisor.detail(node, vmid).pipe(
        Effect.map((detail) => [[vmid, detail] as const]),
        // also one whose node went down since: the plan says what that means
        Effect.catch((fault) =>
          fault.facts.reason === "not-found" || fault.facts.reason === "away" ? Effect.succeed([]) : Effect.fail(fault),
        ),
      )
    const details = yield* Effect.forEach(machines, read, { concurrency: readsAtOnce })
    return new Map(details.flat())
  })

const planNetwork = ({ spec, usable, ours }: ObservedNetwork): PlanNetwork => ({
  name: spec.name,
  node: spec.type === "bridge" ? spec.node : undefined,
  usable,
  ours,
})

/** Accounts on the hypervisor of everybody who has the range. */
export const accountsOf = (grants: readonly Grant[]): Effect.Effect<readonly HypervisorAccount[], StorageFault, Users> =>
  Effect.gen(function* () {
    const users = yield* Users
    const found = yield* Effect.forEach(new Set(grants.map(({ userId }) => userId)), (id) => users.find(id))
    return found.flatMap((user) =>
      user === undefined ? [] : [{ username: user.hypervisorUsername, realm: user.hypervisorRealm }],
    )
  })

/** What there is of a range's machines: the cluster, their configurations, and what is remembered of them. For power changes. */
export const readMachines = (range: Pick<Range, "id">, cluster: ObservedCluster) =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const online = new Set(cluster.nodes.filter(({ online }) => online).map(({ name }) => name))
    const reservations = yield* machines.reservations(range.id)
    const own = rangeMembers(range.id, { cluster, reservations }).filter(({ node }) => online.has(node))
    const kept = yield* machines.ofRange(range.id)
    const world: PlanWorld = {
      cluster,
      details: yield* detailsOf(own),
      networks: [],
      poolExists: false,
      granted: false,
      addresses: new Map(kept.flatMap(({ vmid, address }) => (address === undefined ? [] : [[vmid, address]]))),
      foreignAddresses: new Map(
        kept.flatMap(({ vmid, foreignAddresses }) => (foreignAddresses ? [[vmid, foreignAddresses]] : [])),
      ),
      stages: yield* machines.stages(range.id),
      systems: yield* machines.systems(range.id),
      reservations,
    }
    return world
  })

/** The same with networks, pool and rights: at most three reads more. `grants`: everybody who should have the rights. */
export const readRange = (
  range: Pick<Range, "id" | "number">,
  cluster: ObservedCluster,
  settings: PlanSettings,
  grants: readonly Grant[],
) =>
  Effect.gen(function* () {
    const access = yield* HypervisorAccess
    const world = yield* readMachines(range, cluster)
    const networks = (yield* (yield* HypervisorNetwork).observe).map(planNetwork)
    // a member proves it without a call
    const poolExists = cluster.machines.some(({ pool }) => pool === range.id) || (yield* access.poolExists(range.id))
    const network = networkOf(range, settings, singleNode(world, settings) ?? "")
    const accounts = yield* accountsOf(grants)
    const granted = poolExists && (yield* access.granted(range.id, accounts, network))
    return { ...world, networks, poolExists, granted } satisfies PlanWorld
  })

/** The input with the configurations of the templates that it will clone. */
export const withTemplates = (input: DeployInput): Effect.Effect<DeployInput, HypervisorFault, Hypervisor> =>
  Effect.gen(function* () {
    const wanted = new Set(templatesToRead(input))
    const templates = yield* detailsOf(input.world.cluster.machines.filter(({ vmid }) => wanted.has(vmid)))
    return { ...input, world: { ...input.world, details: new Map([...input.world.details, ...templates]) } }
  })
