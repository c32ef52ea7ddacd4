import {
  carriesMark,
  descriptionWith,
  type Hardware,
  hardwareText,
  isTakenAt,
  type MachineDetail,
  type MachineRef,
  type MachineSettings,
  type MachineSnapshot,
  notesTooLong,
  type ObservedCluster,
  type SnapshotTree,
  stageFingerprint,
  type Json,
} from "@rangewright/domain"
import { Hypervisor, HypervisorFault, type MachineAction, monotonicMillis, type Sought } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  awaitTask,
  beginTask,
  called,
  changeVm,
  dropEntries,
  hypervisorFault,
  type MemorySnapshot,
  type MemoryVm,
  type MemoryWorld,
  removeVm,
  taskOf,
} from "./memory-world.ts"

const settingsOf = (vm: MachineSettings): Json =>
  JSON.parse(JSON.stringify([vm.cpus, vm.memoryMiB, vm.balloonMiB ?? null, vm.nics, vm.tags])) as Json
const sameSettings = (vm: MemoryVm, settings: MachineSettings): boolean =>
  stageFingerprint(settingsOf({ ...vm, tablet: false })) === stageFingerprint(settingsOf(settings)) &&
  descriptionWith(settings.description, vm.description) === undefined &&
  (settings.hardware === undefined ||
    vm.hardware === undefined ||
    hardwareText(vm.hardware) === hardwareText(withDisks(vm.hardware, settings.hardware)))

/** The wanted hardware, with present values for disks that it does not mention. */
const withDisks = (has: Hardware, want: Hardware): Hardware => ({
  ...want,
  disks: has.disks.map((disk) => want.disks.find(({ slot }) => slot === disk.slot) ?? disk),
})

const doing = ({ kind, machine }: MachineAction): string => `${kind} VM ${machine.vmid} (${machine.mark.machine})`

/** Whether the action's effect is already there. */
const isDone = (world: MemoryWorld, action: MachineAction): boolean => {
  const vm = world.vms.get(action.machine.vmid)
  switch (action.kind) {
    case "clone":
      // whoever may make VMs in another pool can write any mark
      return vm?.pool === action.pool && carriesMark(vm.description, action.machine.mark)
    case "configure":
      return vm !== undefined && sameSettings({ ...vm, ...vm.pending }, action.settings)
    case "start":
      return vm?.power === "running"
    case "stop":
    case "shutdown":
      return vm?.power === "stopped"
    case "delete":
      return vm === undefined
    case "take-snapshot":
      return vm?.snapshots?.some(({ name, description }) => isTaken(action, name, description)) === true
    case "roll-back":
      return vm !== undefined && vm.parent === action.snapshot && isRolledBack(vm, action)
    case "remove-snapshot":
      return vm !== undefined && vm.snapshots?.some((one) => isMeant(one, action)) !== true
  }
}

const withoutKept = ({ kept: _kept, ...snapshot }: MemorySnapshot): MachineSnapshot => snapshot

type TakeSnapshot = Extract<MachineAction, { readonly kind: "take-snapshot" }>

type RollBack = Extract<MachineAction, { readonly kind: "roll-back" }>
type RemoveSnapshot = Extract<MachineAction, { readonly kind: "remove-snapshot" }>

const isMeant = (one: MachineSnapshot, { snapshot, takenAt }: RollBack | RemoveSnapshot): boolean =>
  one.name === snapshot && isTakenAt(one, takenAt)

const generationOf = ({ rollbacks = 0 }: MemoryVm): string => `generation ${rollbacks}`
/** Whether the VM was rolled back since the action was planned. */
const isRolledBack = (vm: MemoryVm, { generation }: RollBack): boolean =>
  generation !== undefined && generationOf(vm) !== generation

const isTaken = ({ snapshot }: TakeSnapshot, name: string, description: string): boolean =>
  snapshot.name === name && snapshot.description === description

const detailOf = (vm: MemoryVm): MachineDetail => ({
  vmid: vm.vmid,
  node: vm.node,
  name: vm.name,
  template: vm.template,
  description: vm.description,
  cpus: vm.cpus,
  memoryMiB: vm.memoryMiB,
  balloonMiB: vm.balloonMiB,
  nics: vm.nics,
  tags: vm.tags,
  lock: vm.lock,
  digest: undefined,
  generation: generationOf(vm),
  storage: vm.storage,
  ...(vm.hardware === undefined ? {} : { hardware: vm.hardware }),
})

/** An address as a DHCP server would give it at first boot. */
const firstAddress = ({ vmid, nics }: MemoryVm): string => {
  const [nic] = nics
  const range = Number(nic?.bridge.replace(/\D+/gu, "") ?? 0) % 1000
  return nic?.tag === undefined ? `192.0.2.${100 + (range % 100)}` : `10.${range % 256}.${nic.tag}.${100 + (vmid % 150)}`
}

export const hypervisorLayer = (world: MemoryWorld): Layer.Layer<Hypervisor> => {
  const call = (method: string, mutating: boolean, action?: MachineAction) => ({
    port: "hypervisor" as const,
    method,
    mutating,
    action,
  })

  const observe = Effect.map(Clock.currentTimeMillis, (now): ObservedCluster => ({
    at: new Date(now),
    nodes: [...world.nodes.values()],
    storages: world.storages,
    machines: [...world.vms.values()]
      .filter(world.listed)
      .map(({ vmid, node, name, power, template, pool, cpus, memoryMiB, tags }) => ({
        vmid,
        node,
        name,
        power,
        template,
        pool,
        cpus,
        memoryMiB,
        tags,
      })),
  }))

  const owned = (action: MachineAction, { vmid, mark }: MachineRef): Effect.Effect<MemoryVm, HypervisorFault> => {
    const vm = world.vms.get(vmid)
    if (vm === undefined) return Effect.fail(hypervisorFault(doing(action), "not-found", `there is no VM ${vmid}`))
    if (vm.template || !carriesMark(vm.description, mark))
      return Effect.fail(
        hypervisorFault(doing(action), "not-ours", `VM ${vmid} does not carry the mark of ${mark.range}/${mark.machine}`),
      )
    return Effect.succeed(vm)
  }

  const clone = Effect.fnUntraced(function* (action: Extract<MachineAction, { readonly kind: "clone" }>) {
    const { vmid, node } = action.machine
    const template = world.vms.get(action.template.vmid)
    if (world.vms.has(vmid)) return yield* hypervisorFault(doing(action), "taken", `VM ${vmid} exists already`)
    if (template?.template !== true)
      return yield* hypervisorFault(doing(action), "not-found", `there is no template ${action.template.vmid}`)
    if (!world.pools.has(action.pool)) return yield* hypervisorFault(doing(action), "invalid", `there is no pool ${action.pool}`)
    const { name, pool, description } = action
    world.vms.set(vmid, {
      ...template,
      vmid,
      node,
      name,
      pool,
      description,
      template: false,
      tags: [],
      stages: new Map(),
      snapshots: [],
      parent: undefined,
      rollbacks: 0,
    })
  })

  const take = Effect.fnUntraced(function* (vm: MemoryVm, action: TakeSnapshot) {
    const { name, description, memory } = action.snapshot
    const { cpus, memoryMiB, balloonMiB, nics, tags, stages, addresses, hardware, snapshots = [], parent } = vm
    if (snapshots.some((other) => other.name === name))
      return yield* hypervisorFault(doing(action), "taken", `snapshot name '${name}' already used`)
    if (vm.keepsSnapshots === false) return yield* hypervisorFault(doing(action), "failed", "snapshot feature is not available")
    const takenAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const hasMemory = memory && vm.power === "running"
    const kept = { cpus, memoryMiB, balloonMiB, nics, tags, stages, addresses, ...(hardware && { hardware }) }
    const snapshot = { name, description, takenAt, memory: hasMemory, parent, incomplete: false, kept }
    changeVm(world, vm.vmid, { snapshots: [...snapshots, snapshot], parent: name })
  })

  const rollBack = Effect.fnUntraced(function* (vm: MemoryVm, action: RollBack) {
    const snapshot = vm.snapshots?.find((one) => isMeant(one, action))
    if (snapshot === undefined)
      return yield* hypervisorFault(doing(action), "failed", `snapshot '${action.snapshot}' does not exist`)
    const off = { power: "stopped", agentAt: undefined, sessions: [] } as const
    const on = { power: "running", agentAt: yield* monotonicMillis } as const
    const rollbacks = (vm.rollbacks ?? 0) + 1
    changeVm(world, vm.vmid, {
      ...snapshot.kept,
      pending: undefined,
      rollbacks,
      parent: snapshot.name,
      ...(snapshot.memory ? on : off),
    })
  })

  const removeSnapshot = Effect.fnUntraced(function* (vm: MemoryVm, action: RemoveSnapshot) {
    const gone = vm.snapshots?.find((one) => isMeant(one, action))
    if (gone === undefined) return
    if (action.description !== undefined && gone.description !== action.description)
      return yield* hypervisorFault(doing(action), "not-ours", `snapshot '${action.snapshot}' was made for something else`)
    const left = (vm.snapshots ?? []).filter((one) => one !== gone)
    changeVm(world, vm.vmid, {
      snapshots: left.map((one) => (one.parent === gone.name ? { ...one, parent: gone.parent } : one)),
      parent: vm.parent === gone.name ? gone.parent : vm.parent,
    })
  })

  const apply = Effect.fnUntraced(function* (action: MachineAction) {
    const { durations } = world
    if (action.kind === "clone") {
      yield* clone(action)
      return durations.clone
    }
    const vm = yield* owned(action, action.machine)
    switch (action.kind) {
      case "configure": {
        const { cpus, memoryMiB, balloonMiB, nics, tags, hardware: shown } = action.settings
        const description = descriptionWith(action.settings.description, vm.description) ?? vm.description
        const tooLong = description === vm.description ? undefined : notesTooLong(vm.vmid, description)
        if (tooLong !== undefined) return yield* new HypervisorFault({ doing: doing(action), reason: "invalid", ...tooLong })
        if (shown !== undefined && vm.hardware !== undefined)
          changeVm(world, vm.vmid, { hardware: withDisks(vm.hardware, shown) })
        const hardware = { cpus, memoryMiB, balloonMiB }
        const waits = vm.coldHardware === true && vm.power === "running"
        changeVm(world, vm.vmid, { nics, description, tags, ...(waits ? { pending: hardware } : hardware) })
        return 0
      }
      case "start": {
        const agentAt = (yield* monotonicMillis) + durations.boot * 1000
        const addresses = vm.addresses.length === 0 ? [firstAddress(vm)] : vm.addresses
        changeVm(world, vm.vmid, { ...vm.pending, pending: undefined, power: "running", agentAt, addresses })
        return 1
      }
      case "stop":
      case "shutdown":
        changeVm(world, vm.vmid, { power: "stopped", agentAt: undefined, sessions: [] })
        return durations.stop
      case "delete":
        if (vm.power === "running") return yield* hypervisorFault(doing(action), "failed", `VM ${vm.vmid} is running`)
        removeVm(world, vm.vmid)
        dropEntries(world, ({ path }) => path === `/vms/${vm.vmid}`)
        return durations.delete
      case "take-snapshot":
        yield* take(vm, action)
        return durations.snapshot
      case "roll-back":
        yield* rollBack(vm, action)
        return durations.snapshot
      case "remove-snapshot":
        yield* removeSnapshot(vm, action)
        return durations.snapshot
    }
  })

  const dispatch = Effect.fnUntraced(function* (action: MachineAction) {
    const identity = `${action.kind}:${action.machine.vmid}`
    const now = yield* monotonicMillis
    const busy = taskOf(world, action.machine.vmid, now)
    if (busy !== undefined) {
      if (busy.identity === identity) return { token: yield* beginTask(world, identity, action.machine.vmid, 0) }
      return yield* hypervisorFault(doing(action), "locked", `VM ${action.machine.vmid} is locked (${busy.identity})`)
    }
    // the owner of the machine is checked before its state
    if (action.kind !== "clone" && world.vms.has(action.machine.vmid)) yield* owned(action, action.machine)
    if (isDone(world, action)) return { token: null }
    const seconds = yield* apply(action)
    return { token: seconds === 0 ? null : yield* beginTask(world, identity, action.machine.vmid, seconds) }
  })

  const settle = Effect.fnUntraced(function* (action: MachineAction, token: Json) {
    yield* awaitTask(world, token)
    const vm = world.vms.get(action.machine.vmid)
    if (action.kind === "roll-back" ? vm?.parent !== action.snapshot : !isDone(world, action))
      return yield* hypervisorFault(doing(action), "unknown-effect", "its task is not known and had no effect")
    if (action.kind !== "start" || !action.untilAgent) return []
    const agentAt = world.vms.get(action.machine.vmid)?.agentAt
    if (agentAt === undefined) return yield* hypervisorFault(doing(action), "unknown-effect", "the VM stopped while it booted")
    yield* Effect.sleep(Math.max(0, agentAt - (yield* monotonicMillis)))
    return []
  })

  const adopt = Effect.fnUntraced(function* (
    vm: Pick<MachineDetail, "vmid" | "name" | "description">,
    description: string,
  ): Effect.fn.Return<void, HypervisorFault> {
    const found = world.vms.get(vm.vmid)
    const what = `adopt VM ${vm.vmid}`
    if (found === undefined) return yield* hypervisorFault(what, "not-found", `there is no VM ${vm.vmid}`)
    if (found.template || found.name !== vm.name || (found.description !== vm.description && found.description !== description))
      return yield* hypervisorFault(what, "not-ours", `VM ${vm.vmid} is not the one that was read`)
    changeVm(world, vm.vmid, { description })
  })

  const there = (vmid: MemoryVm["vmid"], what: string): Effect.Effect<MemoryVm, HypervisorFault> =>
    Effect.suspend(() => {
      const vm = world.vms.get(vmid)
      return vm === undefined
        ? Effect.fail(hypervisorFault(`${what} of VM ${vmid}`, "not-found", `there is no VM ${vmid}`))
        : Effect.succeed(vm)
    })

  const answering = (vmid: MemoryVm["vmid"]) =>
    Effect.map(monotonicMillis, (now) => {
      const vm = world.vms.get(vmid)
      return vm?.agentAt !== undefined && vm.agentAt <= now ? vm : undefined
    })

  return Layer.succeed(Hypervisor, {
    observe: called(world, call("observe", false), observe),
    observePool: (poolId) =>
      called(
        world,
        call("observePool", false),
        Effect.map(observe, (cluster) => ({
          ...cluster,
          machines: cluster.machines.filter(({ pool }) => pool === poolId).map((machine) => ({ ...machine, tags: [] })),
        })),
      ),
    seek: (vmid) =>
      called(
        world,
        call("seek", false),
        Effect.sync((): Sought => {
          const vm = world.vms.get(vmid)
          return vm === undefined ? { type: "absent" } : { type: "there", node: vm.node, power: vm.power }
        }),
      ).pipe(Effect.catch(({ facts }) => Effect.succeed<Sought>({ type: "unknown", why: facts.detail }))),
    blindness: called(
      world,
      call("blindness", false),
      Effect.sync(() => world.blindness),
    ),
    quorate: called(
      world,
      call("quorate", false),
      Effect.sync(() => world.quorate),
    ),
    detail: (_node, vmid) =>
      called(
        world,
        call("detail", false),
        Effect.suspend(() => {
          const vm = world.vms.get(vmid)
          return vm === undefined
            ? Effect.fail(hypervisorFault(`read VM ${vmid}`, "not-found", `there is no VM ${vmid}`))
            : Effect.succeed(detailOf(vm))
        }),
      ),
    snapshots: (_node, vmid) =>
      called(
        world,
        call("snapshots", false),
        Effect.map(there(vmid, "read the snapshots"), ({ snapshots = [], parent, power }): SnapshotTree => ({
          snapshots: snapshots.map(withoutKept),
          current: parent,
          running: power === "running",
        })),
      ),
    snapshotCards: (_node, vmid, name) =>
      called(
        world,
        call("snapshotCards", false),
        Effect.flatMap(there(vmid, `read snapshot ${name}`), ({ snapshots = [] }) => {
          const found = snapshots.find((one) => one.name === name)
          return found === undefined
            ? Effect.fail(
                hypervisorFault(`read snapshot ${name} of VM ${vmid}`, "not-found", `snapshot '${name}' does not exist`),
              )
            : Effect.succeed(found.kept.nics)
        }),
      ),
    canSnapshot: (_node, vmid) =>
      called(
        world,
        call("canSnapshot", false),
        Effect.map(there(vmid, "ask whether snapshots can be taken"), ({ keepsSnapshots = true }) => keepsSnapshots),
      ),
    disguiseMeans: called(
      world,
      call("disguiseMeans", false),
      Effect.sync(() => ({ cpu: "host,hidden=1", disks: true, lacks: [] })),
    ),
    dispatch: (action) => called(world, call("dispatch", true, action), dispatch(action)),
    settle: (action, token) => called(world, call("settle", false, action), settle(action, token)),
    adopt: (vm, description) => called(world, call("adopt", true), adopt(vm, description)),
    addresses: (_node, vmid) =>
      called(
        world,
        call("addresses", false),
        Effect.map(answering(vmid), (vm) => vm?.addresses ?? []),
      ),
    system: (_node, vmid) =>
      called(
        world,
        call("system", false),
        Effect.map(answering(vmid), (vm) => vm?.system),
      ),
    sessions: (_node, vmid) =>
      called(
        world,
        call("sessions", false),
        Effect.map(answering(vmid), (vm) => vm?.sessions),
      ),
    clock: called(
      world,
      call("clock", false),
      Effect.map(Clock.currentTimeMillis, (now) => new Date(now)),
    ),
    version: called(world, call("version", false), Effect.succeed("9.1.0")),
  })
}
