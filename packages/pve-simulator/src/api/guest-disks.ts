import { failure } from "../core/errors.ts"
import { digestOf, isCdrom, isDisk, lockOf, touch, volumeOf } from "../core/guest-config.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Guest, Volume } from "../core/state.ts"
import { findVolume, formatSize, parseSize, removeVolume, storageNamed, storageOf } from "../core/volumes.ts"
import { pathOf } from "../core/volume-paths.ts"
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
import { splitList } from "../schema/formats.ts"
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
      if (flag(call, "purge")) {
        task.log(`purging VM ${guest.vmid} from related configurations..`)
        leaveJobs(world, guest.vmid)
      }
      removeGuest(world, guest, flag(call, "destroy-unreferenced-disks"))
    }),
  )
}

/** Removes a VM from backup jobs, and jobs that are left without VMs. */
const leaveJobs = (world: World, vmid: number): void => {
  for (const [id, job] of world.state.backupJobs) {
    const listed = splitList(String(job["vmid"] ?? ""))
    if (!listed.includes(String(vmid))) continue
    const others = listed.filter((each) => each !== String(vmid))
    if (others.length === 0) world.state.backupJobs.delete(id)
    else job["vmid"] = others.join(",")
  }
  world.wakeJobs()
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

/** Removal of VMs; resizing of their disks. */
export const guestDiskRoutes: Routes = {
  "DELETE /nodes/{node}/qemu/{vmid}": destroy,
  "PUT /nodes/{node}/qemu/{vmid}/resize": resize,
}
