import { normalise, optionsIn, withoutEmpty } from "./guest-config.ts"
import { withConfig } from "./guest-locks.ts"
import { checkNewOptions, demandNewGuest } from "./guest-rights.ts"
import { checkDrives, makeDisks } from "./new-disks.ts"
import { failure, forbidden, PveError } from "../core/errors.ts"
import { defaultBoot, isCloudInit, isNet, normaliseNic, ownDisks, volumeOf } from "../core/guest-config.ts"
import { newGuest, newIdentity } from "../core/new-guest.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Backup, Config, Guest, Volume } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import {
  allocate,
  cloudInitFormat,
  findVolume,
  isFileBased,
  removeVolume,
  storageNamed,
  storageOf,
  usableStorage,
} from "../core/volumes.ts"
import { type World, nowSeconds } from "../core/world.ts"
import { removeResource } from "../ha/resources.ts"
import { type Call, type Routes, flag, optionalText, spawn, text, vmidOf } from "../http/call.ts"
import { demand } from "../http/permissions.ts"
import { machineType, turnOnStopped } from "./guest-power.ts"
import { checkVolumeAccess } from "./volume-access.ts"

/** Puts a guest into the pool that its creator named. */
export const joinPool = (world: World, pool: string | undefined, vmid: number): void => {
  if (pool === undefined) return
  world.state.pools.get(pool)?.vms.add(vmid)
  world.state.access.version += 1
}

/** Starts a new guest if the call asks for it, in a task of its own. */
const startIfAsked = (call: Call, vmid: number): void => {
  const { world } = call
  const guest = world.state.guests.get(vmid)
  if (!flag(call, "start") || guest === undefined) return
  spawn(call, "qmstart", vmid, () => withConfig(world, vmid, () => turnOnStopped(world, guest)))
}

/** The backup to restore; fails if the caller may not read it. */
const archiveOf = (call: Call, archive: string): Backup => {
  const { world } = call
  storageNamed(world, storageOf(archive))
  checkVolumeAccess(call, archive, vmidOf(call))
  const volume = findVolume(world, text(call, "node"), archive)
  if (volume?.backup === undefined) throw failure(`volume '${archive}' does not exist`)
  return volume.backup
}

/** Creates the disks of a backup, each on its original storage or on the requested one. */
function* restoreDisks(call: Call, backup: Backup, made: Volume[]): Routine<Config> {
  const { world } = call
  const [vmid, node] = [vmidOf(call), text(call, "node")]
  const config: Config = { ...backup.config }
  for (const [key, disk] of Object.entries(backup.disks)) {
    const old = String(config[key])
    const storage = usableStorage(world, optionalText(call, "storage") ?? storageOf(volumeOf(old)), node)
    const format = isFileBased(storage) ? disk.format : "raw"
    yield* sleep(world.clock, world.timing.allocation + disk.usedBytes / world.timing.copyBytesPerMs)
    const volume = allocate(world, { storage, node, vmid, ...disk, format, purpose: "disk" })
    made.push(volume)
    config[key] = [volume.volid, ...old.split(",").slice(1)].join(",")
  }
  for (const [key, disk] of ownDisks(config)) {
    if (backup.disks[key] !== undefined) continue
    // a cloud-init drive is created again; other disks that were not in the backup are dropped
    delete config[key]
    if (!isCloudInit(disk)) continue
    const storage = usableStorage(world, optionalText(call, "storage") ?? storageOf(volumeOf(disk)), node)
    const size = { sizeBytes: 4 * 1024 ** 2, usedBytes: 0 }
    const volume = allocate(world, { storage, node, vmid, ...size, format: cloudInitFormat(storage), purpose: "cloudinit" })
    made.push(volume)
    config[key] = `${volume.volid},media=cdrom`
  }
  for (const key of ["template", "parent", "vmstate"]) delete config[key]
  return config
}

/** Restores a guest from a backup; with `force`, over a stopped guest. */
const restore = (call: Call, archive: string): string => {
  const { world } = call
  const vmid = vmidOf(call)
  const node = text(call, "node")
  const pool = optionalText(call, "pool")
  if (pool !== undefined && !world.state.pools.has(pool)) throw forbidden(`pool '${pool}' does not exist`)
  const existing = world.state.guests.get(vmid)
  const takes = existing !== undefined && flag(call, "force") && existing.node === node
  demandNewGuest(call, vmid, takes ? "VM.Backup" : "VM.Allocate", pool)
  const backup = archiveOf(call, archive)
  const changes = optionsIn(call)
  checkNewOptions(call, vmid, changes, pool)
  const target = optionalText(call, "storage")
  for (const key of Object.keys(backup.disks))
    demand(world, call.identity, `/storage/${target ?? storageOf(volumeOf(String(backup.config[key])))}`, [
      "Datastore.AllocateSpace",
    ])
  const refused = (reason: string) => failure(`unable to restore VM ${vmid} - ${reason}`)
  if (existing !== undefined && !takes) throw refused(`VM ${vmid} already exists on node '${existing.node}'`)
  if (existing?.status === "running") throw refused("vm is running")
  if (existing?.config["protection"] === 1) throw failure(`can't restore VM ${vmid} - protection mode enabled`)
  const upid = spawn(call, "qmrestore", vmid, (task) =>
    withConfig(world, vmid, function* (): Routine<void> {
      const before = world.state.guests.get(vmid)
      if (before !== undefined && !takes) throw refused(`VM ${vmid} already exists on node '${before.node}'`)
      if (before?.status === "running") throw refused("vm is running")
      task.log(`restore vma archive: ${archive}`)
      const made: Volume[] = []
      const guest = newGuest(world, vmid, node, { lock: "create" })
      if (before === undefined) world.state.guests.set(vmid, guest)
      try {
        const config = yield* restoreDisks(call, backup, made)
        if (before !== undefined) {
          for (const [, disk] of ownDisks(before.config)) removeVolume(world, node, volumeOf(disk))
          world.state.guests.set(vmid, guest)
        }
        if (flag(call, "unique")) renewIdentity(world, config)
        guest.config = { ...config, ...withoutEmpty(normalise(world, yield* makeDisks(world, guest, changes, task.log))).kept }
        guest.os = structuredClone(backup.os)
      } catch (error) {
        for (const volume of made) removeVolume(world, volume.node, volume.volid)
        if (before === undefined) world.state.guests.delete(vmid)
        throw error
      }
      joinPool(world, pool, vmid)
      startIfAsked(call, vmid)
    }),
  )
  return upid
}

/** Replaces the MAC addresses and identifiers of the guest that was backed up. */
const renewIdentity = (world: World, config: Config): void => {
  Object.assign(config, newIdentity(world))
  for (const [key, value] of Object.entries(config))
    if (isNet(key)) config[key] = normaliseNic(world, String(value).replace(/^([^=,]+)=[^,]*/u, "$1"))
}

const create = (call: Call): string => {
  const { world } = call
  const archive = optionalText(call, "archive")
  if (archive !== undefined) return restore(call, archive)
  const vmid = vmidOf(call)
  const node = text(call, "node")
  const pool = optionalText(call, "pool")
  const changes = optionsIn(call)
  if (pool !== undefined && !world.state.pools.has(pool)) throw forbidden(`pool '${pool}' does not exist`)
  demandNewGuest(call, vmid, "VM.Allocate", pool)
  checkNewOptions(call, vmid, changes, pool)
  checkDrives(changes)
  const failed = (reason: string) => failure(`unable to create VM ${vmid} - ${reason}`)
  const existing = world.state.guests.get(vmid)
  if (existing !== undefined) throw failed(`VM ${vmid} already exists on node '${existing.node}'`)
  const guest = newGuest(world, vmid, node, { lock: "create" })
  world.state.guests.set(vmid, guest)
  return spawn(call, "qmcreate", vmid, function* (task): Routine<void> {
    try {
      yield* withConfig(world, vmid, () => build(call, guest, changes, task), world.timing.createLock)
    } catch (error) {
      if (world.state.guests.get(vmid) === guest) world.state.guests.delete(vmid)
      throw error instanceof PveError ? failed(error.message) : error
    }
    joinPool(world, pool, vmid)
    startIfAsked(call, vmid)
  })
}

/** Gives a new VM its disks and its configuration. */
function* build(call: Call, guest: Guest, changes: Config, task: TaskHandle): Routine<void> {
  const { world } = call
  yield* sleep(world.clock, world.timing.createTask)
  const made = yield* makeDisks(world, guest, changes, task.log)
  guest.config = {
    ...withoutEmpty(normalise(world, made)).kept,
    ...missingIdentity(world, made),
    ...pinnedMachine(changes, task),
    meta: `creation-qemu=10.1.2,ctime=${nowSeconds(world)}`,
  }
  guest.config["boot"] ??= defaultBoot(guest.config)
}

/** The machine of a new Windows VM, with its version: Windows does not like it to change. */
const pinnedMachine = ({ machine, ostype }: Config, task: TaskHandle): Config => {
  const [type = "", ...options] = String(machine ?? "").split(",")
  if (!String(ostype).startsWith("w") || !["", "pc", "q35"].includes(type)) return {}
  const pinned = type === "q35" ? machineType.replace("i440fx", "q35") : machineType
  task.log(`pinning machine type to '${pinned}' for Windows guest OS`)
  return { machine: [pinned, ...options].join(",") }
}

const missingIdentity = (world: World, config: Config): Config => {
  const identity = newIdentity(world)
  return Object.fromEntries(Object.entries(identity).filter(([key]) => config[key] === undefined))
}

/** Removes all references to a guest. */
export const forget = (world: World, vmid: number): void => {
  world.state.guests.delete(vmid)
  world.state.firewalls.delete(`vm ${vmid}`)
  for (const pool of world.state.pools.values()) pool.vms.delete(vmid)
  removeResource(world, vmid)
  world.state.access.acl.delete(`/vms/${vmid}`)
  world.state.access.version += 1
}

/** Creation of VMs. */
export const guestCreateRoutes: Routes = {
  "POST /nodes/{node}/qemu": create,
}
