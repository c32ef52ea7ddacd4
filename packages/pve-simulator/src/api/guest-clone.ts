import { copyFirewall } from "../core/firewall.ts"
import { copyDisks, type Plan, type Source } from "./clone-disks.ts"
import { checkCpuModel } from "./cpu-models.ts"
import { forget, joinPool } from "./guest-create.ts"
import { configLock, configLockFailure } from "./guest-locks.ts"
import { checkBridge } from "./guest-rights.ts"
import { untilBacked } from "../core/backed.ts"
import { failure, forbidden, PveError } from "../core/errors.ts"
import { isCloudInit, isNet, lockOf, ownDisks, touch, volumeOf } from "../core/guest-config.ts"
import { newGuest } from "../core/new-guest.ts"
import type { Routine } from "../core/routine.ts"
import type { Config, Volume } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import { canLink, findVolume, removeVolume, storageNamed, storageOf, usableStorage } from "../core/volumes.ts"
import { type Call, type Routes, findGuest, flag, optionalText, spawn, text, vmidOf } from "../http/call.ts"
import { demand } from "../http/permissions.ts"

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
  return { guest, config: snapshot.config, os: snapshot.os, snapshot: name }
}

/** Makes all checks that do not wait, in the server's order. */
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
  checkCpuModel(call, source.config["cpu"])
  const name = optionalText(call, "name") ?? `Copy-of-VM-${source.guest.config["name"] ?? source.guest.vmid}`
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
    const linkable = volume !== undefined && /base-\d+-disk-\d[^/]*$/.test(volid) && canLink(storage)
    if (!linkable) throw failure(`Linked clone feature is not supported for '${volid}' (${key})`)
  }
}

const checkBridges = (call: Call, config: Config): void => {
  for (const [key, value] of Object.entries(config)) if (isNet(key)) checkBridge(call, String(value))
}

const clone = (call: Call): string => {
  const plan = planClone(call)
  return spawn(call, "qmclone", vmidOf(call), (task) => cloneTask(call, plan, task))
}

/** Locks a running source exclusively, and a stopped one shared with other clones of it; then locks the new guest's file. */
function cloneTask(call: Call, plan: Plan, task: TaskHandle): Routine<void> {
  const { world } = call
  const { guest: source } = plan.source
  const alone = source.status === "running"
  const failed = (vmid: number) => () => configLockFailure(vmid)
  const body = () =>
    world.locks.exclusive(configLock(plan.newid), world.timing.cloneLock, failed(plan.newid), () => cloneLocked(call, plan, task))
  const name = configLock(source.vmid)
  return alone
    ? world.locks.exclusive(name, world.timing.cloneLock, failed(source.vmid), body)
    : world.locks.shared(name, world.timing.cloneLock, failed(source.vmid), body)
}

function* cloneLocked(call: Call, plan: Plan, task: TaskHandle): Routine<void> {
  const { world } = call
  const { newid } = plan
  const sourceId = plan.source.guest.vmid
  if (world.state.guests.has(newid)) throw failure(`unable to create VM ${newid}: config file already exists`)
  const guest = newGuest(world, newid, plan.source.guest.node, { lock: "clone" })
  world.state.guests.set(newid, guest)
  joinPool(world, plan.pool, newid)
  const made: Volume[] = []
  try {
    task.log(`creating a clone of VM ${sourceId} with ID ${newid}`)
    world.backing?.copy(sourceId, newid, plan.source.snapshot)
    yield* copyDisks(world, plan, guest, made, task)
    yield* untilBacked(world, newid)
  } catch (error) {
    for (const volume of made) removeVolume(world, volume.node, volume.volid)
    forget(world, newid)
    world.backing?.gone(newid)
    throw error instanceof PveError ? failure(`clone failed: ${error.message}`) : error
  }
  touch(world, guest)
  copyFirewall(world.state, sourceId, newid)
  guest.node = plan.node
}

/** Cloning. */
export const guestCloneRoutes: Routes = {
  "POST /nodes/{node}/qemu/{vmid}/clone": clone,
}
