import { badParameter, failure } from "../core/errors.ts"
import { digestOf, isCdrom, isDisk, lockOf, touch, volumeOf } from "../core/guest-config.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Guest, Volume } from "../core/state.ts"
import {
  allocate,
  formatOn,
  findVolume,
  formatSize,
  parseSize,
  removeVolume,
  storageLock,
  storageLockFailure,
  storageNamed,
  storageOf,
  usableStorage,
} from "../core/volumes.ts"
import { makingOf, pathOf } from "../core/volume-paths.ts"
import type { World } from "../core/world.ts"
import { powerOff } from "../guest/boot.ts"
import { releaseGuest } from "../guest/addresses.ts"
import {
  flag,
  findGuest,
  guestOf,
  missingConfig,
  optionalText,
  spawn,
  text,
  vmidOf,
  type Call,
  type Routes,
} from "../http/call.ts"
import { demand } from "../http/permissions.ts"
import { transfer } from "./clone-disks.ts"
import { forget } from "./guest-create.ts"
import { haOf } from "../ha/resources.ts"
import { refuseUsedBase } from "./guest-template.ts"
import { withConfig, refuseSkiplock, refuseLocked } from "./guest-locks.ts"

const destroy = (call: Call): string => {
  refuseSkiplock(call)
  const { world } = call
  const guest = guestOf(call)
  if (guest.config["protection"] === 1) throw failure(`can't remove VM ${guest.vmid} - protection mode enabled`)
  if (guest.status === "running") throw failure(`VM ${guest.vmid} is running - destroy failed`)
  if (haOf(world, guest.vmid) !== undefined && !flag(call, "purge"))
    throw failure(`unable to remove VM ${guest.vmid} - used in HA resources and purge parameter not set.`)
  return spawn(call, "qmdestroy", guest.vmid, (task) =>
    withConfig(world, guest.vmid, function* (): Routine<void> {
      if (findGuest(call) === undefined) throw missingConfig(text(call, "node"), vmidOf(call))
      if (lockOf(guest.config) !== "suspended") refuseLocked(call, guest)
      if (guest.status === "running") throw failure(`VM ${guest.vmid} is running - destroy failed`)
      refuseUsedBase(world, guest)
      yield* sleep(world.clock, world.timing.destroyTask)
      if (flag(call, "purge")) task.log(`purging VM ${guest.vmid} from related configurations..`)
      removeGuest(world, guest, flag(call, "destroy-unreferenced-disks"))
    }),
  )
}

const removeGuest = (world: World, guest: Guest, unreferenced: boolean): void => {
  powerOff(world, guest)
  releaseGuest(world, guest)
  const configs = [guest.config, ...[...guest.snapshots.values()].map((snapshot) => snapshot.config)]
  for (const config of configs) {
    for (const [key, value] of Object.entries(config)) {
      const own =
        (isDisk(key) || /^unused\d+$/.test(key) || key === "vmstate") &&
        !(isCdrom(String(value)) && !String(value).includes("cloudinit"))
      if (own) removeVolume(world, guest.node, volumeOf(String(value)))
    }
  }
  if (unreferenced) {
    for (const storage of world.state.storages.values()) {
      for (const [key, volume] of storage.volumes) {
        if (volume.vmid === guest.vmid && volume.content === "images" && (storage.shared || volume.node === guest.node))
          storage.volumes.delete(key)
      }
    }
  }
  forget(world, guest.vmid)
}

const resize = (call: Call): string => {
  refuseSkiplock(call)
  const { world } = call
  const key = text(call, "disk")
  return spawn(call, "resize", vmidOf(call), (task) =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      const digest = optionalText(call, "digest")
      if (digest !== undefined && digest !== digestOf(guest)) throw failure("checksum mismatch (file change by other user?)")
      refuseLocked(call, guest)
      const disk = guest.config[key]
      if (disk === undefined) throw failure(`disk '${key}' does not exist`)
      const volume = findVolume(world, guest.node, volumeOf(String(disk)))
      if (volume === undefined || isCdrom(String(disk))) throw failure(`can't resize volume: ${key}`)
      const wanted = text(call, "size")
      const size = (parseSize(wanted.replace(/^\+/, "")) ?? 0) + (wanted.startsWith("+") ? volume.sizeBytes : 0)
      if (size < volume.sizeBytes) throw failure("shrinking disks is not supported")
      if (isBaseFile(volume))
        throw refusedResize(pathOf(storageNamed(world, storageOf(volume.volid)), volume.volid), volume.format, size, task.log)
      yield* sleep(world.clock, world.timing.configTask)
      touch(world, guest)
      volume.sizeBytes = size
      guest.config[key] = [
        ...String(disk)
          .split(",")
          .filter((part) => !part.startsWith("size=")),
        `size=${formatSize(size)}`,
      ].join(",")
      task.log("Image resized.")
    }),
  )
}

/** The file of a template's disk is write-protected. */
const isBaseFile = (volume: Volume): boolean => /\/base-[^/]+$/.test(volume.volid)

const refusedResize = (path: string, format: string, size: number, log: (line: string) => void): Error => {
  log(`qemu-img: Could not open '${path}': Could not open '${path}': Operation not permitted`)
  return failure(`command '/usr/bin/qemu-img resize '--preallocation=metadata' -f ${format} ${path} ${size}' failed: exit code 1`)
}

const moveDisk = (call: Call): string => {
  const { world } = call
  const guest = guestOf(call)
  const key = text(call, "disk")
  const target = optionalText(call, "storage")
  if (target === undefined) throw badParameter({ storage: "either set 'storage' or 'target-vmid', but not both" })
  demand(world, call.identity, `/storage/${target}`, ["Datastore.AllocateSpace"])
  const storage = usableStorage(world, target, guest.node)
  const disk = guest.config[key]
  if (disk === undefined) throw failure(`disk '${key}' does not exist`)
  const format = optionalText(call, "format")
  const volume = findVolume(world, guest.node, volumeOf(String(disk)))
  if (volume === undefined) throw failure(`disk '${key}' has no associated volume`)
  if (storageOf(volume.volid) === target && (format === undefined || format === volume.format)) {
    throw failure("you can't move to the same storage with same format")
  }
  return spawn(call, "qmmove", guest.vmid, (task) =>
    withConfig(world, guest.vmid, function* (): Routine<void> {
      refuseLocked(call, guest)
      task.log(`create full clone of drive ${key} (${volume.volid})`)
      const made = yield* world.locks.exclusive(
        storageLock(storage, guest.node),
        world.timing.storageLock,
        () => storageLockFailure(storage),
        function* () {
          yield* sleep(world.clock, world.timing.allocation)
          const { sizeBytes, usedBytes } = volume
          return allocate(world, {
            storage,
            node: guest.node,
            vmid: guest.vmid,
            sizeBytes,
            usedBytes,
            format: formatOn(storage, format ?? volume.format),
            purpose: "disk",
          })
        },
      )
      for (const line of makingOf(storage, made)) task.log(line)
      yield* transfer(world, volume.usedBytes, volume.sizeBytes, task)
      touch(world, guest)
      guest.config[key] = [made.volid, ...String(disk).split(",").slice(1)].join(",")
      if (flag(call, "delete")) removeVolume(world, guest.node, volume.volid)
      else guest.config[nextUnused(guest)] = volume.volid
    }),
  )
}

const nextUnused = (guest: Guest): string => {
  let n = 0
  while (guest.config[`unused${n}`] !== undefined) n += 1
  return `unused${n}`
}

/** Removal of VMs; resizing and moving their disks. */
export const guestDiskRoutes: Routes = {
  "DELETE /nodes/{node}/qemu/{vmid}": destroy,
  "PUT /nodes/{node}/qemu/{vmid}/resize": resize,
  "POST /nodes/{node}/qemu/{vmid}/move_disk": moveDisk,
}
