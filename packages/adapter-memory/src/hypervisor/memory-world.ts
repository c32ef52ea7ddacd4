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
  /** When true, hardware changes made while it runs take effect at its next start. */
  readonly coldHardware?: boolean
  readonly pending?: Pick<MemoryVm, "cpus" | "memoryMiB" | "balloonMiB"> | undefined
  /** Number of rollbacks; absent means none. */
  readonly rollbacks?: number
  readonly storage: string
  /** Absent when it cannot be determined. */
  readonly hardware?: Hardware
  /** The template on whose disks its own depend. */
  readonly clonedFrom?: Vmid
  /** Time in milliseconds from which the guest agent answers; undefined while the VM is off. */
  readonly agentAt: number | undefined
  readonly addresses: readonly string[]
  /** The operating system as its agent reports it. */
  readonly system?: GuestSystem | undefined
  /** Logged-in users. */
  readonly sessions: readonly string[]
  readonly lock?: string | undefined
  /** Whether its disks support snapshots; absent means yes. */
  readonly keepsSnapshots?: boolean
  readonly snapshots?: readonly MemorySnapshot[]
  /** The snapshot that it is based on. */
  readonly parent?: string | undefined
  /** Stages that ran inside: `stage fingerprint` -> how often it really did something. */
  readonly stages: ReadonlyMap<string, number>
}

/** An account of the memory world. */
export interface MemoryAccount {
  /** Whether the service created it. */
  readonly ours: boolean
  /** Undefined when it has none, or its realm manages it. */
  password: string | undefined
  readonly groups: Set<string>
  /** Why the service cannot set its password. */
  readonly passwordObstacle: string | undefined
}

/** Work that continues even if nobody waits for it. */
export interface MemoryTask {
  /** Identifies the work, so that the same dispatch finds it again. */
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

/** A failure of a call, before its effect (nothing happened) or after it (the effect is there, but not the answer). */
export interface MemoryFailure {
  readonly when: "before" | "after"
  readonly reason: HypervisorReason
}

/** Durations of work in seconds; everything else is immediate. */
export interface MemoryDurations {
  readonly clone: number
  readonly boot: number
  readonly stop: number
  readonly delete: number
  readonly network: number
  readonly stage: number
  readonly snapshot: number
}

/** The world behind the in-memory hypervisor ports: plain data that tests and embedders may inspect and change. */
export interface MemoryWorld {
  readonly nodes: Map<string, ObservedNode>
  readonly storages: ObservedStorage[]
  readonly vms: Map<Vmid, MemoryVm>
  readonly networks: Map<string, { readonly spec: NetworkSpec; readonly ours: boolean }>
  /** Peers of VXLAN zones by name. */
  readonly zones: Map<string, readonly string[]>
  /** Users and groups that may use a VNet, by its name. */
  readonly vnetRights: Map<string, { readonly users: ReadonlySet<string>; readonly groups: ReadonlySet<string> }>
  readonly pools: Set<RangeId>
  /** Pools that the service did not create. */
  readonly othersPools: Set<RangeId>
  readonly accounts: Map<AccountId, MemoryAccount>
  readonly groups: Map<string, { readonly ours: boolean }>
  /** The list of rights; `writeEntry` adds to it. */
  readonly acl: Map<string, AccessEntry>
  readonly tasks: Map<string, MemoryTask>
  /** Functions that close the open consoles, with the VM of each. */
  readonly consoles: Map<() => void, Vmid>
  readonly calls: MemoryCall[]
  /** Whether the cluster accepts changes. */
  quorate: boolean
  /** Which VMs its lists show; hidden ones exist all the same. */
  listed: (vm: MemoryVm) => boolean
  /** Why its lists may leave something out; undefined when there is no known reason. */
  blindness: string | undefined
  durations: MemoryDurations
  /** Roles that the guest automation can run; undefined when unknown. */
  roles: ReadonlySet<string> | undefined
  /** Those of them that are the user's own, whoever that is. */
  ownRoles: ReadonlySet<string>
  /** Obstacles to work inside machines. */
  guestObstacles: readonly GuestObstacle[]
  /** Whether machines are reached over the network, and not only through their agents. */
  guestsOverNetwork: boolean
  /** A router's report of its rules; undefined when it reports nothing. */
  routerReport: string | undefined
  /** Report of a Windows machine about its licence or activation; undefined when it reports nothing. */
  windowsReport: (stage: GuestStage, machine: string) => string | undefined
  /** What a stage inside a machine prints. */
  print: (stage: GuestStage, machine: string, input: Json) => string
  /** Called before each call with its number among all calls (from 1); returns the failure to inject. */
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
  ownRoles: new Set(),
  guestObstacles: [],
  guestsOverNetwork: false,
  routerReport: undefined,
  windowsReport: () => undefined,
  print: () => "",
  fault: () => undefined,
})

/** Adds a template, stopped and ready to be cloned. */
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

/** Adds an entry to the list of rights, or replaces the one of the same role. */
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

/** Runs one call of a hypervisor port: counted, and failed if the world says so. */
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

/** The same for work inside machines, whose faults have fewer reasons: anything but `away` or unknown is `failed`. */
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

/** Starts work that takes this many seconds, or finds the same work in progress; returns its token. */
export const beginTask = (world: MemoryWorld, identity: string, vmid: Vmid | undefined, seconds: number): Effect.Effect<string> =>
  Effect.gen(function* () {
    const now = yield* monotonicMillis
    for (const [token, task] of world.tasks) if (task.identity === identity && task.until > now) return token
    const token = `task:${world.tasks.size + 1}`
    world.tasks.set(token, { identity, vmid, until: now + seconds * 1000 })
    return token
  })

/** The work that locks a VM now, if any. */
export const taskOf = (world: MemoryWorld, vmid: Vmid, now: number): MemoryTask | undefined =>
  [...world.tasks.values()].find((task) => task.vmid === vmid && task.until > now)

/** Waits for the work to end; false when it is unknown. */
export const awaitTask = (world: MemoryWorld, token: Json): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const task = typeof token === "string" ? world.tasks.get(token) : undefined
    if (task === undefined) return token === null
    yield* Effect.sleep(Math.max(0, task.until - (yield* monotonicMillis)))
    return true
  })
