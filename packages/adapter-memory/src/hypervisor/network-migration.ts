import {
  carriesMark,
  type InstallationBridge,
  type InstallationMachine,
  type MoveGuard,
  type NetworkSpec,
  type Nic,
  nicChange,
  nicNetwork,
} from "@rangewright/domain"
import {
  type HypervisorFault,
  type HypervisorInstallation,
  NetworkMigration,
  type NetworkMigrationAction,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { awaitTask, beginTask, called, changeVm, hypervisorFault, type MemoryVm, type MemoryWorld } from "./memory-world.ts"

const nicText = ({ model, mac, bridge, tag, firewall }: Nic): string =>
  [`${model}=${mac}`, `bridge=${bridge}`, ...(tag === undefined ? [] : [`tag=${tag}`]), ...(firewall ? ["firewall=1"] : [])].join(
    ",",
  )

const bridgesOf = (world: MemoryWorld): readonly InstallationBridge[] =>
  [...world.networks.values()].flatMap(({ spec }) =>
    spec.type === "bridge"
      ? [{ node: spec.node, name: spec.name, ports: [], address: undefined, settings: { comments: spec.comment } }]
      : [],
  )

const vnetsOf = (world: MemoryWorld): HypervisorInstallation["vnets"] =>
  [...world.networks.values()].flatMap(({ spec }) =>
    spec.type === "vnet"
      ? [{ name: spec.name, zone: spec.zone, tag: spec.tag, alias: spec.alias, vlanAware: true, state: undefined, missingOn: [] }]
      : [],
  )

const machineOf = (vm: MemoryVm): InstallationMachine => ({
  vmid: vm.vmid,
  node: vm.node,
  name: vm.name,
  kind: "vm",
  template: vm.template,
  pool: vm.pool,
  tags: vm.tags,
  running: vm.power === "running",
  lock: undefined,
  description: vm.description,
  nics: vm.nics.map((nic) => ({ nic: `net${nic.index}`, text: nicText(nic) })),
  snapshots: [],
})

const observe = (world: MemoryWorld): HypervisorInstallation => ({
  quorate: true,
  nodes: [...world.nodes.values()].map(({ name, online }, index) => ({
    name,
    online,
    address: `10.0.0.${index + 1}`,
    missingPackages: [],
    pending: [],
  })),
  zones: [...world.zones].map(([name, peers]) => ({ name, type: "vxlan", peers, nodes: [], mtu: undefined, state: undefined })),
  vnets: vnetsOf(world),
  otherPending: [],
  bridges: bridgesOf(world),
  machines: [...world.vms.values()].map(machineOf),
  rights: [...world.vnetRights].flatMap(([vnet, { users, groups }]) => [
    ...[...users].map((name) => ({ vnet, subject: "user" as const, name })),
    ...[...groups].map((name) => ({ vnet, subject: "group" as const, name })),
  ]),
})

const isExpected = (vm: MemoryVm, guard: MoveGuard): boolean =>
  guard.type === "mark" ? carriesMark(vm.description, guard.mark) : vm.pool === guard.pool && vm.name === guard.name

const create = (world: MemoryWorld, spec: NetworkSpec, doing: string): Effect.Effect<void, HypervisorFault> =>
  Effect.suspend(() => {
    const found = world.networks.get(spec.name)
    const alias = spec.type === "vnet" ? spec.alias : undefined
    if (found !== undefined && alias !== undefined && (found.spec.type !== "vnet" || found.spec.alias !== alias))
      return Effect.fail(hypervisorFault(doing, "not-ours", `network ${spec.name} exists and is not ours`))
    if (found === undefined) world.networks.set(spec.name, { spec, ours: true })
    return Effect.void
  })

const remove = (
  world: MemoryWorld,
  name: string,
  alias: string | undefined,
  doing: string,
): Effect.Effect<void, HypervisorFault> =>
  Effect.suspend(() => {
    const found = world.networks.get(name)
    if (found === undefined) return Effect.void
    if (alias !== undefined && (found.spec.type !== "vnet" || found.spec.alias !== alias))
      return Effect.fail(hypervisorFault(doing, "not-ours", `network ${name} is not ours`))
    world.networks.delete(name)
    world.vnetRights.delete(name)
    return Effect.void
  })

type ZoneRemoval = Extract<NetworkMigrationAction, { readonly kind: "remove-zone" }>

const removeZone = (world: MemoryWorld, { zone, peers }: ZoneRemoval, doing: string): Effect.Effect<void, HypervisorFault> =>
  Effect.suspend(() => {
    const found = world.zones.get(zone)
    if (found !== undefined && found.toSorted().join() !== peers.toSorted().join())
      return Effect.fail(hypervisorFault(doing, "not-ours", `zone ${zone} has other peers`))
    world.zones.delete(zone)
    return Effect.void
  })

type Move = Extract<NetworkMigrationAction, { readonly kind: "move-nics" }>

const move = Effect.fnUntraced(function* (
  world: MemoryWorld,
  { vmid, guard, nics }: Move,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const vm = world.vms.get(vmid)
  if (vm === undefined) return
  if (vm.template || !isExpected(vm, guard))
    return yield* hypervisorFault(doing, "not-ours", `VM ${vmid} is not the one that was planned`)
  const moves = new Map(nics.map((one) => [one.nic, one]))
  for (const [nic, one] of moves) {
    const now = vm.nics.find(({ index }) => `net${index}` === nic)
    if (nicChange(now === undefined ? undefined : nicText(now), one).type === "elsewhere")
      return yield* hypervisorFault(doing, "failed", `${nic} of VM ${vmid} is on another network`)
  }
  changeVm(world, vmid, {
    nics: vm.nics.map((nic) => {
      const to = moves.get(`net${nic.index}`)?.to
      return to === undefined ? nic : { ...nic, bridge: to }
    }),
  })
})

type Grant = Extract<NetworkMigrationAction, { readonly kind: "grant-vnet" }>

const grant = (world: MemoryWorld, { vnet, groups }: Grant): void => {
  const held = world.vnetRights.get(vnet)
  world.vnetRights.set(vnet, {
    users: held?.users ?? new Set(),
    groups: new Set([...(held?.groups ?? []), ...groups]),
  })
}

type Proof = Extract<NetworkMigrationAction, { readonly kind: "verify-networks" | "verify-machines" }>

/** Deviations from the expected state. */
const wrong = (world: MemoryWorld, action: Proof): readonly string[] => {
  if (action.kind === "verify-networks")
    return action.networks.filter(({ network }) => !world.networks.has(network)).map(({ network }) => `${network} is missing`)
  const leaving = new Set(action.leaving)
  return action.machines
    .filter((vmid) => (world.vms.get(vmid)?.nics ?? []).some((nic) => leaving.has(nicNetwork(nicText(nic)) ?? "")))
    .map((vmid) => `VM ${vmid} has not moved`)
}

/** Networks of the memory world are in force as soon as they are written; applying takes time and changes nothing more. */
export const networkMigrationLayer = (world: MemoryWorld): Layer.Layer<NetworkMigration> => {
  const run = <A>(method: string, mutating: boolean, effect: Effect.Effect<A, HypervisorFault>) =>
    called(world, { port: "migration", method, mutating, action: undefined }, effect)

  const dispatch = (action: NetworkMigrationAction): Effect.Effect<string | null, HypervisorFault> => {
    const doing = action.kind
    switch (action.kind) {
      case "create-zone":
        return Effect.sync(() => (world.zones.set(action.zone.name, action.zone.peers), null))
      case "remove-zone":
        return Effect.as(removeZone(world, action, doing), null)
      case "create-vnet":
        return Effect.as(create(world, { type: "vnet", ...action.vnet }, doing), null)
      case "remove-vnet":
        return Effect.as(remove(world, action.vnet, action.alias, doing), null)
      case "create-bridge": {
        const { node, name, settings } = action.bridge
        return Effect.as(create(world, { type: "bridge", name, node, comment: String(settings["comments"] ?? "") }, doing), null)
      }
      case "remove-bridge":
        return Effect.as(remove(world, action.bridge, undefined, doing), null)
      case "grant-vnet":
        return Effect.sync(() => (grant(world, action), null))
      case "move-nics":
        return Effect.as(move(world, action, doing), null)
      case "apply-sdn":
      case "reload-network":
        return beginTask(world, doing, undefined, world.durations.network)
      case "verify-networks":
      case "verify-machines":
        return Effect.succeed(null)
      case "host-address":
      case "range-route":
      case "leave-host":
      case "bridge-address":
      case "revert-network":
        // no node here has a shell, an address of its own or pending changes, so none of these is planned
        return Effect.die(new Error(`${action.kind} is not an action of the memory world`))
    }
  }

  return Layer.succeed(NetworkMigration, {
    groups: { admins: "admins", users: "users" },
    observe: () =>
      run(
        "observe",
        false,
        Effect.sync(() => observe(world)),
      ),
    observeCached: () =>
      run(
        "observeCached",
        false,
        Effect.sync(() => observe(world)),
      ),
    dispatch: (action) =>
      run(
        "dispatch",
        action.kind !== "verify-networks" && action.kind !== "verify-machines",
        Effect.suspend(() => {
          const gone = action.kind === "move-nics" && !world.vms.has(action.vmid)
          return Effect.map(dispatch(action), (token) => (gone ? { token, gone } : { token }))
        }),
      ),
    settle: (action, token) =>
      run(
        "settle",
        false,
        Effect.gen(function* () {
          yield* awaitTask(world, token)
          if (action.kind !== "verify-networks" && action.kind !== "verify-machines") return
          const problems = wrong(world, action)
          if (problems.length > 0) return yield* hypervisorFault("verify the networks", "failed", problems.join(", "))
        }),
      ),
  })
}
