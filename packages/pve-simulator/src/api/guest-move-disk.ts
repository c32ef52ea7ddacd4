import { removeOption, setOption } from "../core/drives.ts"
import { badParameter, failure, wrapped } from "../core/errors.ts"
import { digestOf, isDisc, isDisk, touch, volumeOf } from "../core/guest-config.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Guest, StorageState, Volume } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import {
  allocate,
  findVolume,
  formatOn,
  removeVolume,
  storageLock,
  storageLockFailure,
  storageNamed,
  storageOf,
  usableStorage,
} from "../core/volumes.ts"
import { makingOf } from "../core/volume-paths.ts"
import { type Call, flag, guestOf, optionalNumber, optionalText, type Routes, spawn, text } from "../http/call.ts"
import { demand } from "../http/permissions.ts"
import { transfer } from "./clone-disks.ts"
import { dropFromBoot } from "./edit-rules.ts"
import { refuseLocked, withConfig } from "./guest-locks.ts"

const checkVersion = (guest: Guest, digest: string | undefined): void => {
  if (digest !== undefined && digest !== digestOf(guest))
    throw failure("detected modified configuration - file changed by other user? Try again.")
}

const isInSnapshot = (guest: Guest, volid: string): boolean =>
  [...guest.snapshots.values()].some(({ config }) =>
    Object.entries(config).some(([key, value]) => isDisk(key) && volumeOf(String(value)) === volid),
  )

/** A disk that can be moved, with its text in the configuration. */
interface Movable {
  readonly key: string
  readonly disk: string
  readonly volume: Volume
}

const movable = (call: Call, guest: Guest): Movable => {
  refuseLocked(call, guest)
  checkVersion(guest, optionalText(call, "digest"))
  const key = text(call, "disk")
  if (guest.config[key] === undefined) throw failure(`disk '${key}' does not exist`)
  const disk = String(guest.config[key])
  if (isDisc(disk)) throw failure("you can't move a cdrom")
  const volume = findVolume(call.world, guest.node, volumeOf(disk))
  if (volume === undefined) throw failure(`disk '${key}' has no associated volume`)
  return { key, disk, volume }
}

/** Moves a disk to another storage. */
const toStorage = (call: Call, target: string): string => {
  const { world } = call
  demand(world, call.identity, `/storage/${target}`, ["Datastore.AllocateSpace"])
  const guest = guestOf(call)
  const moved = movable(call, guest)
  const format = optionalText(call, "format")
  const { volid } = moved.volume
  if (
    storageOf(volid) === target &&
    (format === undefined || formatOn(storageNamed(world, target), format) === moved.volume.format)
  )
    throw failure("you can't move to the same storage with same format")
  const storage = usableStorage(world, target, guest.node)
  if (!storage.content.includes("images")) throw badParameter({ storage: `storage '${target}' does not support vm images` })
  if (flag(call, "delete") && isInSnapshot(guest, volid))
    throw failure("you can't move a disk with snapshots and delete the source")
  return spawn(call, "qmmove", guest.vmid, (task) =>
    withConfig(world, guest.vmid, function* (): Routine<void> {
      refuseLocked(call, guest)
      try {
        yield* copy(call, guest, moved, storage, task)
      } catch (error) {
        throw wrapped("storage migration failed", error)
      }
    }),
  )
}

function* copy(call: Call, guest: Guest, { key, disk, volume }: Movable, storage: StorageState, task: TaskHandle): Routine<void> {
  const { world } = call
  const { node, vmid } = guest
  const { sizeBytes, usedBytes } = volume
  const format = formatOn(storage, optionalText(call, "format") ?? volume.format)
  task.log(`create full clone of drive ${key} (${volume.volid})`)
  const made = yield* world.locks.exclusive(
    storageLock(storage, node),
    world.timing.storageLock,
    () => storageLockFailure(storage),
    function* () {
      yield* sleep(world.clock, world.timing.allocation)
      return allocate(world, { storage, node, vmid, sizeBytes, usedBytes, format, purpose: "disk" })
    },
  )
  for (const line of makingOf(storage, made)) task.log(line)
  yield* transfer(world, usedBytes, sizeBytes, task)
  touch(world, guest)
  const text = [made.volid, ...disk.split(",").slice(1)].join(",")
  if (flag(call, "delete")) {
    guest.config[key] = text
    removeVolume(world, node, volume.volid)
  } else setOption(world, guest, key, text)
}

/** Gives a disk to another VM on the node. */
const toGuest = (call: Call, vmid: number): string => {
  const { world } = call
  const [key, targetKey] = [text(call, "disk"), optionalText(call, "target-disk") ?? text(call, "disk")]
  demand(world, call.identity, `/vms/${vmid}`, ["VM.Config.Disk"])
  const source = guestOf(call)
  if (vmid === source.vmid) throw badParameter({ "target-vmid": "must be different than source VMID to reassign disk" })
  const target = checkTarget(call, source, vmid, targetKey)
  const { volume, disk } = givable(call, source)
  demand(world, call.identity, `/storage/${storageOf(volume.volid)}`, ["Datastore.AllocateSpace"])
  return spawn(call, "qmmove", `${source.vmid}-${key}>${vmid}-${targetKey}`, (task) =>
    withConfig(world, source.vmid, () =>
      withConfig(world, vmid, function* (): Routine<void> {
        yield* sleep(world.clock, world.timing.configTask)
        checkTarget(call, source, vmid, targetKey)
        task.log(`moving disk '${key}' from VM '${source.vmid}' to '${vmid}'`)
        touch(world, source)
        touch(world, target)
        removeVolume(world, source.node, volume.volid)
        const { parent: _, ...kept } = volume
        const storage = storageNamed(world, storageOf(volume.volid))
        const renamed = allocate(world, { ...kept, storage, vmid, purpose: "disk" })
        dropFromBoot(source, key)
        removeOption(world, source, key)
        task.log(`removing disk '${key}' from VM '${source.vmid}' config`)
        const options = targetKey.startsWith("unused") ? [] : disk.split(",").slice(1)
        setOption(world, target, targetKey, [renamed.volid, ...options].join(","))
      }),
    ),
  )
}

/** The VM that gets a disk. */
const checkTarget = (call: Call, source: Guest, vmid: number, key: string): Guest => {
  const target = call.world.state.guests.get(vmid)
  if (target === undefined) throw failure(`could not find target VM ${vmid}`)
  if (target.node !== source.node) throw failure(`Both VMs need to be on the same node (${source.node} != ${target.node})`)
  for (const guest of [source, target]) refuseLocked(call, guest)
  if ([source, target].some(({ config }) => config["template"] === 1)) throw failure("Can't move disks from or to template VMs")
  for (const [guest, name] of [
    [source, "digest"],
    [target, "target-digest"],
  ] as const)
    try {
      checkVersion(guest, optionalText(call, name))
    } catch (error) {
      throw wrapped(`VM ${guest.vmid}`, error)
    }
  if (source.config[text(call, "disk")] === undefined)
    throw failure(`Disk '${text(call, "disk")}' for VM '${source.vmid}' does not exist`)
  if (target.config[key] !== undefined) throw failure(`Target disk key '${key}' is already in use for VM '${vmid}'`)
  return target
}

const givable = (call: Call, source: Guest): Pick<Movable, "disk" | "volume"> => {
  const key = text(call, "disk")
  const disk = String(source.config[key])
  const volume = findVolume(call.world, source.node, volumeOf(disk))
  if (volume === undefined) throw failure(`disk '${key}' has no associated volume`)
  if (isDisc(disk)) throw failure("CD drive contents can't be moved to another VM")
  if (isInSnapshot(source, volume.volid)) throw failure("Can't move disk used by a snapshot to another VM")
  if (source.status === "running" && !key.startsWith("unused"))
    throw failure("Cannot move disk to another VM while the source VM is running - detach first")
  return { disk, volume }
}

const moveDisk = (call: Call): string => {
  const [storage, vmid] = [optionalText(call, "storage"), optionalNumber(call, "target-vmid")]
  if (vmid !== undefined && storage === undefined) return toGuest(call, vmid)
  if (storage !== undefined && vmid === undefined) return toStorage(call, storage)
  const reason =
    storage === undefined
      ? "both 'storage' and 'target-vmid' missing, either needs to be set"
      : "either set 'storage' or 'target-vmid', but not both"
  throw badParameter({ storage: reason, "target-vmid": reason })
}

/** Moving of disks to other storages and VMs. */
export const guestMoveDiskRoutes: Routes = { "POST /nodes/{node}/qemu/{vmid}/move_disk": moveDisk }
