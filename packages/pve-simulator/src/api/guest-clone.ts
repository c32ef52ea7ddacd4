import { badParameter, failure, forbidden } from "../core/errors.ts"
import {
  guestName,
  isCdrom,
  isCloudInit,
  isNet,
  lockOf,
  normaliseNic,
  ownDisks,
  parseNic,
  touch,
  volumeOf,
} from "../core/guest-config.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Config, Guest, StorageState, Volume } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import {
  allocate,
  canLink,
  defaultFormat,
  findVolume,
  formatSize,
  hasClones,
  removeVolume,
  renameToBase,
  storageLock,
  storageLockFailure,
  storageNamed,
  storageOf,
  usableStorage,
} from "../core/volumes.ts"
import type { World } from "../core/world.ts"
import { findGuest, flag, guestOf, optionalText, spawn, text, vmidOf, type Call, type Routes } from "../http/call.ts"
import { demand } from "../http/permissions.ts"
import { configLock, configLockFailure, joinPool, newGuest, newIdentity, withConfig } from "./guest-config.ts"

/** The source as it will be copied: the guest, or one of its snapshots. */
interface Source {
  readonly guest: Guest
  readonly config: Config
  readonly os: Guest["os"]
}

interface Plan {
  readonly source: Source
  readonly newid: number
  readonly node: string
  readonly full: boolean
  readonly storage: string | undefined
  readonly format: string | undefined
  readonly pool: string | undefined
  readonly name: string
  readonly description: string | undefined
}

const sourceOf = (call: Call): Source => {
  const guest = findGuest(call)
  if (guest === undefined)
    throw failure(`unable to find configuration file for VM ${vmidOf(call)} on node '${text(call, "node")}'`)
  const lock = lockOf(guest.config)
  if (lock !== undefined) throw failure(`VM is locked (${lock})`)
  const name = optionalText(call, "snapname")
  if (name === undefined || name === "current") return { guest, config: guest.config, os: guest.os }
  const snapshot = guest.snapshots.get(name)
  if (snapshot === undefined) throw failure(`snapshot '${name}' does not exist`)
  return { guest, config: snapshot.config, os: snapshot.os }
}

/** Everything that can be refused at once is refused here, in the server's order. */
const planClone = (call: Call): Plan => {
  const { world } = call
  const target = optionalText(call, "target")
  if (target !== undefined && !world.state.nodes.has(target)) throw failure(`no such cluster node '${target}'`)
  const pool = optionalText(call, "pool")
  if (pool !== undefined && !world.state.pools.has(pool)) throw forbidden(`pool '${pool}' does not exist`)
  const storage = optionalText(call, "storage")
  const node = target ?? text(call, "node")
  if (storage !== undefined) checkTargetStorage(call, storage, node)
  const source = sourceOf(call)
  const newid = Number(call.parameters["newid"])
  const full = call.parameters["full"] === undefined ? source.guest.config["template"] !== 1 : flag(call, "full")
  const format = optionalText(call, "format")
  if (!full && storage !== undefined) throw failure("parameter 'storage' not allowed for linked clones")
  if (!full && format !== undefined) throw failure("parameter 'format' not allowed for linked clones")
  if (world.state.guests.has(newid)) throw failure(`unable to create VM ${newid}: config file already exists`)
  checkDisks(call, source, full, node, storage)
  checkBridges(call, source.config)
  const name = optionalText(call, "name") ?? `Copy-of-VM-${guestName(source.guest)}`
  return { source, newid, node, full, storage, format, pool, name, description: optionalText(call, "description") }
}

const checkTargetStorage = (call: Call, id: string, node: string): void => {
  const storage = usableStorage(call.world, id, node)
  if (!storage.content.includes("images")) throw failure(`storage '${id}' does not support vm images`)
  if (node !== text(call, "node") && !storage.shared) throw failure(`can't clone to non-shared storage '${id}'`)
}

const checkDisks = (call: Call, source: Source, full: boolean, node: string, storageId: string | undefined): void => {
  const { world } = call
  for (const [key, disk] of ownDisks(source.config)) {
    const volid = volumeOf(disk)
    const storage = storageNamed(world, storageOf(volid))
    if (node !== source.guest.node && !storage.shared) throw failure(`can't clone VM to node '${node}' (VM uses local storage)`)
    demand(world, call.identity, `/storage/${storageId ?? storage.id}`, ["Datastore.AllocateSpace"])
    if (full || isCloudInit(disk)) continue
    const volume = findVolume(world, source.guest.node, volid)
    const linkable = volume !== undefined && /base-\d+-disk-\d+[^/]*$/.test(volid) && canLink(storage, volume.format)
    if (!linkable) throw failure(`Linked clone feature is not supported for '${volid}' (${key})`)
  }
}

const checkBridges = (call: Call, config: Config): void => {
  for (const [key, value] of Object.entries(config)) {
    if (!isNet(key)) continue
    const nic = parseNic(0, String(value))
    if (nic.bridge === undefined) continue
    const zone = call.world.state.sdn.config.vnets.get(nic.bridge)?.["zone"] ?? "localnetwork"
    demand(call.world, call.identity, `/sdn/zones/${zone}/${nic.bridge}${nic.tag === undefined ? "" : `/${nic.tag}`}`, [
      "SDN.Use",
    ])
  }
}

const clone = (call: Call): string => {
  const plan = planClone(call)
  return spawn(call, "qmclone", vmidOf(call), (task) => cloneTask(call, plan, task))
}

function* cloneTask(call: Call, plan: Plan, task: TaskHandle): Routine<void> {
  const { world } = call
  const { newid } = plan
  const sourceId = plan.source.guest.vmid
  yield* world.locks.exclusive(
    configLock(newid),
    world.timing.cloneLock,
    () => configLockFailure(newid),
    function* (): Routine<void> {
      if (world.state.guests.has(newid)) throw failure(`unable to create VM ${newid}: config file already exists`)
      const guest = newGuest(world, newid, plan.source.guest.node, { lock: "clone" })
      world.state.guests.set(newid, guest)
      joinPool(world, plan.pool, newid)
      const made: Volume[] = []
      try {
        task.log(`creating a clone of VM ${sourceId} with ID ${newid}`)
        yield* world.locks.shared(
          configLock(sourceId),
          world.timing.cloneLock,
          () => configLockFailure(sourceId),
          () => copyDisks(world, plan, guest, made, task),
        )
      } catch (error) {
        for (const volume of made) removeVolume(world, volume.node, volume.volid)
        forget(world, newid)
        throw error
      }
      touch(world, guest)
      guest.node = plan.node
    },
  )
}

/** Takes a guest out of everything that names it. */
export const forget = (world: World, vmid: number): void => {
  world.state.guests.delete(vmid)
  for (const pool of world.state.pools.values()) pool.vms.delete(vmid)
  world.state.access.acl.delete(`/vms/${vmid}`)
  world.state.access.version += 1
}

function* copyDisks(world: World, plan: Plan, guest: Guest, made: Volume[], task: TaskHandle): Routine<void> {
  const { source } = plan
  const config: Config = {}
  for (const [key, value] of Object.entries(source.config)) {
    if (
      ["template", "lock", "snaptime", "parent", "vmstate", "runningmachine", "runningcpu", "digest"].includes(key) ||
      /^unused\d+$/.test(key)
    )
      continue
    config[key] = isNet(key) ? normaliseNic(world, stripMac(String(value))) : value
  }
  Object.assign(
    config,
    newIdentity(world),
    { name: plan.name },
    plan.description === undefined ? {} : { description: plan.description },
  )
  for (const [key, disk] of ownDisks(source.config)) {
    const volume = yield* copyDisk(world, plan, key, disk, made, task)
    const rest = disk
      .split(",")
      .slice(1)
      .filter((part) => !part.startsWith("size="))
    config[key] = [volume.volid, ...rest, `size=${formatSize(volume.sizeBytes)}`].join(",")
  }
  touch(world, guest)
  guest.config = config
  guest.os = source.os === undefined ? undefined : structuredClone(source.os)
}

const stripMac = (text: string): string => {
  const nic = parseNic(0, text)
  const rest = text.split(",").filter((part) => !part.includes(`=${nic.mac}`) && !part.toUpperCase().includes(nic.mac))
  return [nic.model, ...rest.filter((part) => part !== nic.model)].join(",")
}

/** Copies one disk; the volume is in `made` from the moment it exists, so that a clone that ends early can take it away. */
function* copyDisk(world: World, plan: Plan, key: string, disk: string, made: Volume[], task: TaskHandle): Routine<Volume> {
  const { source, newid } = plan
  const volid = volumeOf(disk)
  const original = findVolume(world, source.guest.node, volid)
  const storage =
    plan.full && plan.storage !== undefined ? storageNamed(world, plan.storage) : storageNamed(world, storageOf(volid))
  const cloudinit = isCloudInit(disk)
  const full = plan.full || cloudinit
  task.log(`create ${full ? "full" : "linked"} clone of drive ${key} (${volid})`)
  if (original === undefined) throw failure(`clone failed: volume '${volid}' does not exist`)
  const format = plan.full
    ? (plan.format ?? (plan.storage === undefined ? original.format : defaultFormat(storage)))
    : original.format
  const { node } = source.guest
  const make = (usedBytes: number, parent?: Volume) => () => {
    const purpose = cloudinit ? "cloudinit" : "disk"
    const base = parent === undefined ? {} : { parent }
    const volume = allocate(world, {
      storage,
      node,
      vmid: newid,
      sizeBytes: original.sizeBytes,
      usedBytes,
      format,
      purpose,
      ...base,
    })
    made.push(volume)
    return volume
  }
  // A cloud-init drive is a few megabytes, made along the way.
  if (cloudinit) return logged(task, make(original.usedBytes)())
  if (!full) return yield* link(world, storage, node, make(0, original))
  const volume = logged(task, yield* underStorageLock(world, storage, node, make(original.usedBytes)))
  yield* transfer(world, original.usedBytes, original.sizeBytes, task)
  return volume
}

const logged = (task: TaskHandle, volume: Volume): Volume => {
  task.log(`allocated target volume '${volume.volid}'`)
  return volume
}

function* underStorageLock<A>(world: World, storage: StorageState, node: string, work: () => A): Routine<A> {
  return yield* world.locks.exclusive(
    storageLock(storage, node),
    world.timing.storageLock,
    () => storageLockFailure(storage),
    function* (): Routine<A> {
      yield* sleep(world.clock, world.timing.allocation)
      return work()
    },
  )
}

/** A linked clone: a place among the few that a storage works on at once, its lock for the allocation, then the rest. */
function* link(world: World, storage: StorageState, node: string, work: () => Volume): Routine<Volume> {
  const slots = `clones ${storageLock(storage, node)}`
  const fail = () => storageLockFailure(storage)
  return yield* world.locks.slot(
    slots,
    world.timing.clonesPerStorage,
    world.timing.storageLock,
    fail,
    function* (): Routine<Volume> {
      const volume = yield* underStorageLock(world, storage, node, work)
      yield* sleep(world.clock, Math.max(0, world.timing.linkedClone - world.timing.allocation))
      return volume
    },
  )
}

const gib = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

/** Copies the used part of a disk; its log tells the progress in the disk's size. */
export function* transfer(world: World, used: number, size: number, task: TaskHandle): Routine<void> {
  task.log(`transferred 0.0 B of ${gib(size)} (0.00%)`)
  yield* sleep(world.clock, Math.ceil(used / world.timing.copyBytesPerMs))
  task.log(`transferred ${gib(size)} of ${gib(size)} (100.00%)`)
}

/** Makes a guest a template: its disks become base volumes. */
const template = (call: Call): string => {
  const { world } = call
  const guest = guestOf(call)
  const lock = lockOf(guest.config)
  if (lock !== undefined) throw failure(`VM is locked (${lock})`)
  if (guest.snapshots.size > 0) throw failure("unable to create template, because VM contains snapshots")
  if (guest.config["template"] === 1) throw failure("you can't convert a template to a template")
  if (guest.status === "running") throw failure("you can't convert a VM to template if VM is running")
  const only = optionalText(call, "disk")
  if (only !== undefined && guest.config[only] === undefined) throw badParameter({ disk: `disk '${only}' does not exist` })
  return spawn(call, "qmtemplate", guest.vmid, () =>
    withConfig(world, guest.vmid, function* (): Routine<void> {
      yield* sleep(world.clock, world.timing.configTask)
      touch(world, guest)
      toTemplate(world, guest)
    }),
  )
}

/** Turns the disks of a guest into base volumes and marks it. */
export const toTemplate = (world: World, guest: Guest): void => {
  for (const [key, disk] of ownDisks(guest.config)) {
    if (isCdrom(disk)) continue
    const volume = findVolume(world, guest.node, volumeOf(disk))
    if (volume === undefined) continue
    const renamed = renameToBase(world, guest.node, volume)
    guest.config[key] = [renamed.volid, ...disk.split(",").slice(1)].join(",")
  }
  guest.config["template"] = 1
}

/** Fails while a linked clone builds on one of a guest's disks. */
export const refuseUsedBase = (world: World, guest: Guest): void => {
  for (const [, disk] of ownDisks(guest.config)) {
    const volume = findVolume(world, guest.node, volumeOf(disk))
    if (volume !== undefined && hasClones(world, volume))
      throw failure(`base volume '${volume.volid}' is still in use by linked cloned`)
  }
}

export const guestCloneRoutes: Routes = {
  "POST /nodes/{node}/qemu/{vmid}/clone": clone,
  "POST /nodes/{node}/qemu/{vmid}/template": template,
}
