import type {
  AccessEntry,
  AccountId,
  GuestSystem,
  Action,
  GuestObstacle,
  GuestStage,
  Hardware,
  Json,
  MachineSnapshot,
  NetworkSpec,
  Nic,
  ObservedNode,
  ObservedStorage,
  PowerState,
  RangeId,
  Vmid,
} from "@rangewright/domain"
import { osIdOf, subjectName } from "@rangewright/domain"
import { GuestFault, HypervisorFault, type HypervisorReason, monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** A snapshot, with what a rollback restores. */
export interface MemorySnapshot extends MachineSnapshot {
  readonly kept: Pick<MemoryVm, "cpus" | "memoryMiB" | "balloonMiB" | "nics" | "tags" | "stages" | "addresses" | "hardware">
}

/** A VM of the memory world. */
export interface MemoryVm {
  readonly vmid: Vmid
  readonly node: string
  readonly name: string
  readonly power: PowerState
  readonly template: boolean
  readonly pool: string | undefined
  readonly cpus: number
  readonly memoryMiB: number
  readonly balloonMiB: number | undefined
  readonly tags: readonly string[]
  readonly description: string
  readonly nics: readonly Nic[]
  /** True: what of its hardware is changed while it runs counts when it starts again. */
  readonly coldHardware?: boolean
  readonly pending?: Pick<MemoryVm, "cpus" | "memoryMiB" | "balloonMiB"> | undefined
  /** How often it was rolled back; absent: never. */
  readonly rollbacks?: number
  readonly storage: string
  /** Absent: nobody can tell. */
  readonly hardware?: Hardware
  /** The template whose disks its own need. */
  readonly clonedFrom?: Vmid
  /** From then on (milliseconds) the guest agent answers; undefined while the VM is off. */
  readonly agentAt: number | undefined
  readonly addresses: readonly string[]
  /** What its agent says of its system. */
  readonly system?: GuestSystem | undefined
  /** Users with a session. */
  readonly sessions: readonly string[]
  readonly lock?: string | undefined
  /** Whether its disks can keep snapshots; absent: they can. */
  readonly keepsSnapshots?: boolean
  readonly snapshots?: readonly MemorySnapshot[]
  /** The snapshot that it goes on from. */
  readonly parent?: string | undefined
  /** Stages that ran inside: `stage fingerprint` -> how often it really did something. */
  readonly stages: ReadonlyMap<string, number>
}

/** An account of the memory world. */
export interface MemoryAccount {
  /** Whether the service made it. */
  readonly ours: boolean
  /** Undefined: it has none, or its realm keeps it. */
  password: string | undefined
  readonly groups: Set<string>
  /** Why the service cannot set its password. */
  readonly passwordObstacle: string | undefined
}

/** Work that continues, whoever waits for it. */
export interface MemoryTask {
  /** What it does, so that the same dispatch finds it again. */
  readonly identity: string
  readonly vmid: Vmid | undefined
  /** When it ends, in milliseconds. */
  readonly until: number
}

/** One call of a port. */
export interface MemoryCall {
  readonly port: "hypervisor" | "network" | "access" | "guest" | "migration" | "templates" | "console"
  readonly method: string
  readonly mutating: boolean
  readonly action: Action | undefined
}

/** What goes wrong with a call: before its effect (it has none) or after it (the effect is there, the answer is not). */
export interface MemoryFailure {
  readonly when: "before" | "after"
  readonly reason: HypervisorReason
}

/** Seconds that work takes; everything else is immediate. */
export interface MemoryDurations {
  readonly clone: number
  readonly boot: number
  readonly stop: number
  readonly delete: number
  readonly network: number
  readonly stage: number
  readonly snapshot: number
}

/** The world behind the in-memory hypervisor ports: plain data that tests and embedders may look at and change. */
export interface MemoryWorld {
  readonly nodes: Map<string, ObservedNode>
  readonly storages: ObservedStorage[]
  readonly vms: Map<Vmid, MemoryVm>
  readonly networks: Map<string, { readonly spec: NetworkSpec; readonly ours: boolean }>
  /** Peers of VXLAN zones by name. */
  readonly zones: Map<string, readonly string[]>
  /** Who may use a VNet, by its name. */
  readonly vnetRights: Map<string, { readonly users: ReadonlySet<string>; readonly groups: ReadonlySet<string> }>
  readonly pools: Set<RangeId>
  /** Those of the pools that the service did not make. */
  readonly othersPools: Set<RangeId>
  readonly accounts: Map<AccountId, MemoryAccount>
  readonly groups: Map<string, { readonly ours: boolean }>
  /** The list of rights; `writeEntry` adds to it. */
  readonly acl: Map<string, AccessEntry>
  readonly tasks: Map<string, MemoryTask>
  /** What closes the open consoles, and whose they are. */
  readonly consoles: Map<() => void, Vmid>
  readonly calls: MemoryCall[]
  /** Whether the cluster takes changes. */
  quorate: boolean
  /** Which VMs its lists show; what they leave out is there all the same. */
  listed: (vm: MemoryVm) => boolean
  /** Why its lists may leave something out; undefined: nothing is known that speaks against them. */
  blindness: string | undefined
  durations: MemoryDurations
  /** Roles that the guest automation can run; undefined: it cannot tell. */
  roles: ReadonlySet<string> | undefined
  /** What stands in the way of work inside machines. */
  guestObstacles: readonly GuestObstacle[]
  /** Machines are reached over the network, and not only by their agents. */
  guestsOverNetwork: boolean
  /** What a router prints that is asked for its rules; undefined: it tells nothing. */
  routerReport: string | undefined
  /** What a machine with Windows prints when it is asked for its licence, or was activated; undefined: it tells nothing. */
  windowsReport: (stage: GuestStage, machine: string) => string | undefined
  /** What a stage inside a machine prints. */
  print: (stage: GuestStage, machine: string, input: Json) => string
  /** Asked before each call with its place among all calls (from 1): what goes wrong with it. */
  fault: (call: MemoryCall, nth: number) => MemoryFailure | undefined
}

const quick: MemoryDurations = { clone: 4, boot: 25, stop: 2, delete: 2, network: 2, stage: 10, snapshot: 2 }

export const makeMemoryWorld = (nodeNames: readonly string[] = ["node1"]): MemoryWorld => ({
  nodes: new Map(
    nodeNames.map((name) => [name, { name, online: true, cpus: 32, cpuLoad: 0.1, memoryMiB: 262_144, memoryUsedMiB: 16_384 }]),
  ),
  storages: nodeNames.map((node) => ({
    name: "local",
    node,
    type: "dir",
    shared: false,
    active: true,
    totalBytes: 2e12,
    usedBytes: 1e11,
    content: ["images"],
  })),
  vms: new Map(),
  networks: new Map(),
  zones: new Map(),
  vnetRights: new Map(),
  pools: new Set(),
  othersPools: new Set(),
  accounts: new Map(),
  groups: new Map(),
  acl: new Map(),
  tasks: new Map(),
  consoles: new Map(),
  calls: [],
  quorate: true,
  listed: () => true,
  blindness: undefined,
  durations: quick,
  roles: undefined,
  guestObstacles: [],
  guestsOverNetwork: false,
  routerReport: undefined,
  windowsReport: () => undefined,
  print: () => "",
  fault: () => undefined,
})

/** Puts a template there, stopped, ready to be cloned. */
export const addTemplate = (world: MemoryWorld, vmid: number, name: string, node = "node1"): MemoryVm => {
  const vm: MemoryVm = {
    vmid: vmid as Vmid,
    node,
    name,
    power: "stopped",
    template: true,
    pool: "SHARED",
    cpus: 2,
    memoryMiB: 4096,
    balloonMiB: undefined,
    tags: [],
    description: "",
    nics: [],
    storage: "local",
    hardware: { cpu: undefined, smbios: {}, disks: [{ slot: "scsi0" }] },
    agentAt: undefined,
    addresses: [],
    system: {
      id: name.startsWith("win") ? "windows" : (osIdOf({ kind: "linux", claimed: undefined, template: name }) ?? "linux"),
    },
    sessions: [],
    stages: new Map(),
  }
  world.vms.set(vm.vmid, vm)
  return vm
}

/** Puts an entry into the list of rights, or changes the one of the same role. */
export const writeEntry = (world: MemoryWorld, entry: AccessEntry): void => {
  world.acl.set(`${entry.path}\n${entry.role}\n${subjectName(entry.subject)}`, entry)
}

export const dropEntries = (world: MemoryWorld, isGone: (entry: AccessEntry) => boolean): void => {
  for (const [key, entry] of world.acl) if (isGone(entry)) world.acl.delete(key)
}

const closeConsoles = (world: MemoryWorld, vmid: Vmid): void => {
  for (const [close, of] of world.consoles) if (of === vmid) close()
}

export const removeVm = (world: MemoryWorld, vmid: Vmid): void => {
  world.vms.delete(vmid)
  closeConsoles(world, vmid)
}

export const changeVm = (world: MemoryWorld, vmid: Vmid, change: Partial<MemoryVm>): void => {
  const vm = world.vms.get(vmid)
  if (vm !== undefined) world.vms.set(vmid, { ...vm, ...change })
  if (change.power === "stopped") closeConsoles(world, vmid)
}

export const hypervisorFault = (doing: string, reason: HypervisorReason, detail: string) =>
  new HypervisorFault({ doing, reason, detail })

const injected = "the test world was told to fail this call"

/** Runs one call of a hypervisor port: counted, and failed where the world says so. */
export const called = <A>(
  world: MemoryWorld,
  call: MemoryCall,
  effect: Effect.Effect<A, HypervisorFault>,
): Effect.Effect<A, HypervisorFault> =>
  Effect.suspend(() => {
    world.calls.push(call)
    const failure = world.fault(call, world.calls.length)
    if (failure === undefined) return effect
    const fault = hypervisorFault(`${call.method} (${call.port})`, failure.reason, injected)
    return failure.when === "before" ? Effect.fail(fault) : Effect.andThen(effect, Effect.fail(fault))
  })

/** The same for what happens inside machines, whose faults have fewer reasons: what is not `away` or unknown has failed. */
export const calledGuest = <A>(
  world: MemoryWorld,
  call: MemoryCall,
  machine: string,
  effect: Effect.Effect<A, GuestFault>,
): Effect.Effect<A, GuestFault> =>
  Effect.suspend(() => {
    world.calls.push(call)
    const failure = world.fault(call, world.calls.length)
    if (failure === undefined) return effect
    const away = ["away", "no-quorum", "unknown-effect", "locked"].includes(failure.reason)
    const fault = new GuestFault({ doing: call.method, machine, reason: away ? "away" : "failed", detail: injected })
    return failure.when === "before" ? Effect.fail(fault) : Effect.andThen(effect, Effect.fail(fault))
  })

/** Begins work of so many seconds, or finds the same work going on; its name is a token. */
export const beginTask = (world: MemoryWorld, identity: string, vmid: Vmid | undefined, seconds: number): Effect.Effect<string> =>
  Effect.gen(function* () {
    const now = yield* monotonicMillis
    for (const [token, task] of world.tasks) if (task.identity === identity && task.until > now) return token
    const token = `task:${world.tasks.size + 1}`
    world.tasks.set(token, { identity, vmid, until: now + seconds * 1000 })
    return token
  })

/** The work that holds a VM now, if any. */
export const taskOf = (world: MemoryWorld, vmid: Vmid, now: number): MemoryTask | undefined =>
  [...world.tasks.values()].find((task) => task.vmid === vmid && task.until > now)

/** Waits for the end of the work; false when it is unknown. */
export const awaitTask = (world: MemoryWorld, token: Json): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const task = typeof token === "string" ? world.tasks.get(token) : undefined
    if (task === undefined) return token === null
    yield* Effect.sleep(Math.max(0, task.until - (yield* monotonicMillis)))
    return true
  })
