import { failure } from "../core/errors.ts"
import { isCloudInit, isNet, normaliseNic, ownDisks, parseNic, touch, volumeOf } from "../core/guest-config.ts"
import { newIdentity } from "../core/new-guest.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Config, Guest, StorageState, Volume } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import {
  allocate,
  formatOn,
  findVolume,
  formatSize,
  storageLock,
  storageLockFailure,
  storageNamed,
  storageOf,
} from "../core/volumes.ts"
import { makingOf } from "../core/volume-paths.ts"
import type { World } from "../core/world.ts"

/** The source to copy: the guest, or one of its snapshots. */
export interface Source {
  readonly guest: Guest
  readonly config: Config
  readonly os: Guest["os"]
  readonly snapshot?: string
}

/** An accepted clone, with everything chosen. */
export interface Plan {
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

/** Copies the source's configuration and disks, with their content, into the new guest. */
export function* copyDisks(world: World, plan: Plan, guest: Guest, made: Volume[], task: TaskHandle): Routine<void> {
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

/** Copies one disk. The volume is in `made` from the moment it exists, so that an interrupted clone can remove it. */
function* copyDisk(world: World, plan: Plan, key: string, disk: string, made: Volume[], task: TaskHandle): Routine<Volume> {
  const { source, newid } = plan
  const volid = volumeOf(disk)
  const original = findVolume(world, source.guest.node, volid)
  const storage =
    plan.full && plan.storage !== undefined ? storageNamed(world, plan.storage) : storageNamed(world, storageOf(volid))
  const cloudinit = isCloudInit(disk)
  const full = plan.full || cloudinit
  task.log(`create ${full ? "full" : "linked"} clone of drive ${key} (${volid})`)
  if (original === undefined) throw failure(`volume '${volid}' does not exist`)
  // a cloud-init drive is always made anew
  const format = formatOn(storage, full ? (plan.format ?? original.format) : "qcow2")
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
  // a cloud-init drive has only a few megabytes and is created in passing
  if (cloudinit) return logged(task, storage, make(original.usedBytes)())
  if (!full) {
    const volume = yield* link(world, storage, node, make(0, original))
    for (const line of makingOf(storage, volume, original)) task.log(line)
    return volume
  }
  const volume = logged(task, storage, yield* underStorageLock(world, storage, node, make(original.usedBytes)))
  yield* transfer(world, original.usedBytes, original.sizeBytes, task)
  return volume
}

const logged = (task: TaskHandle, storage: StorageState, volume: Volume): Volume => {
  for (const line of makingOf(storage, volume)) task.log(line)
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

/** A linked clone: waits for one of the storage's few slots, holds its lock for the allocation, then does the rest. */
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

/** Copies the used part of a disk; its log shows the progress relative to the disk's full size. */
export function* transfer(world: World, used: number, size: number, task: TaskHandle): Routine<void> {
  task.log(`transferred 0.0 B of ${gib(size)} (0.00%)`)
  yield* sleep(world.clock, Math.ceil(used / world.timing.copyBytesPerMs))
  task.log(`transferred ${gib(size)} of ${gib(size)} (100.00%)`)
}
