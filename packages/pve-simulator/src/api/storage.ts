import { badParameter, failure } from "../core/errors.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { StorageState, Volume } from "../core/state.ts"
import { awaitTask, isGoodEnd, type TaskHandle } from "../core/tasks.ts"
import {
  allocate,
  findVolume,
  hasClones,
  isFileBased,
  isOnNode,
  parseSize,
  removeVolume,
  storageLock,
  storageNamed,
  storageOf,
  usableStorage,
  usedBytes,
  volumesOn,
} from "../core/volumes.ts"
import { pathOf, refuseOddName } from "../core/volume-paths.ts"
import { nowSeconds } from "../core/world.ts"
import { flag, nodeOf, optionalNumber, optionalText, spawn, text, type Call, type Routes } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { checkVolumeAccess, mayReadVolume, ownerOf } from "./volume-access.ts"

/** Whether the caller may see a storage. */
export const mayAudit = (call: Call, id: string): boolean =>
  may(call.world, call.identity, `/storage/${id}`, ["Datastore.Audit", "Datastore.AllocateSpace"], true)

const space = (call: Call, storage: StorageState, node: string) => {
  const full = storage.full || call.world.faults.isStorageFull(storage.id)
  const total = storage.capacityBytes
  const used = full ? total : usedBytes(storage, node)
  return { total, used, avail: Math.max(0, total - used) }
}

const status = (call: Call, storage: StorageState, node: string) => ({
  type: storage.type,
  content: storage.content.join(","),
  shared: storage.shared ? 1 : 0,
  enabled: storage.disabled ? 0 : 1,
  active: storage.disabled ? 0 : 1,
  ...space(call, storage, node),
})

const nodeList = (call: Call): unknown[] => {
  const node = nodeOf(call).name
  const content = splitList(optionalText(call, "content") ?? "")
  const target = optionalText(call, "target")
  const only = optionalText(call, "storage")
  if (only !== undefined) storageNamed(call.world, only)
  return [...call.world.state.storages.values()]
    .filter((storage) => isOnNode(storage, node) && mayAudit(call, storage.id))
    .filter(
      (storage) =>
        (only === undefined || storage.id === only) &&
        (content.length === 0 || content.some((type) => storage.content.includes(type))),
    )
    .filter((storage) => !flag(call, "enabled") || !storage.disabled)
    .filter((storage) => target === undefined || target === node || (storage.shared && isOnNode(storage, target)))
    .map((storage) => {
      const shown = status(call, storage, node)
      return { storage: storage.id, ...shown, used_fraction: shown.used / shown.total }
    })
}

const nodeStorage = (call: Call): StorageState => {
  const storage = storageNamed(call.world, text(call, "storage"))
  if (!isOnNode(storage, nodeOf(call).name))
    throw failure(`storage '${storage.id}' is not available on node '${nodeOf(call).name}'`)
  return storage
}

/** The status of a storage on the node; a storage that the node does not have is an invalid parameter. */
const nodeStatus = (call: Call) => {
  const node = nodeOf(call).name
  const storage = call.world.state.storages.get(text(call, "storage"))
  if (storage === undefined || storage.disabled || !isOnNode(storage, node)) throw badParameter({ storage: "No such storage." })
  return status(call, storage, node)
}

const content = (call: Call): unknown[] => {
  const storage = nodeStorage(call)
  const vmid = optionalNumber(call, "vmid")
  const type = optionalText(call, "content")
  return volumesOn(storage, nodeOf(call).name)
    .filter((volume) => (vmid === undefined || volume.vmid === vmid) && (type === undefined || volume.content === type))
    .filter(({ volid: id }) => mayReadVolume(call, id))
    .map((volume) => ({
      volid: volume.volid,
      content: volume.content,
      format: volume.format,
      size: volume.sizeBytes,
      ctime: volume.ctime,
      ...(volume.content === "images" ? { used: volume.usedBytes, parent: volume.parent ?? null } : {}),
      ...(volume.vmid === undefined ? {} : { vmid: volume.vmid }),
      ...ofBackup(volume),
    }))
}

/** Members of an answer that only backups have. */
const ofBackup = ({ backup, notes, protected: kept }: Volume) =>
  backup === undefined
    ? {}
    : { subtype: "qemu", ...(notes === undefined ? {} : { notes }), ...(kept === true ? { protected: 1 } : {}) }

/** The full id of the volume in a path, with or without its storage, which may be another one than the path's. */
const volid = (call: Call): string => {
  const name = text(call, "volume")
  const id = name.includes(":") ? name : `${text(call, "storage")}:${name}`
  refuseOddName(storageNamed(call.world, storageOf(id)), id.slice(id.indexOf(":") + 1))
  return id
}

const volumeInfo = (call: Call) => {
  nodeStorage(call)
  const id = volid(call)
  checkVolumeAccess(call, id)
  const volume = findVolume(call.world, nodeOf(call).name, id)
  if (volume === undefined) throw failure(`volume_size_info on '${id}' failed`)
  const { notes, protected: kept } = volume
  return {
    path: pathOf(storageNamed(call.world, storageOf(id)), id),
    size: volume.sizeBytes,
    used: volume.usedBytes,
    format: volume.format,
    ...(notes === undefined ? {} : { notes }),
    ...(kept === true ? { protected: 1 } : {}),
  }
}

/** Notes and protection, which only backups have. */
const updateVolume = (call: Call): null => {
  nodeStorage(call)
  checkVolumeAccess(call, volid(call))
  const volume = findVolume(call.world, nodeOf(call).name, volid(call))
  if (volume === undefined) throw failure(`volume '${volid(call)}' does not exist`)
  const { notes, protected: kept } = call.parameters
  for (const [name, value] of Object.entries({ notes, protected: kept }))
    if (value !== undefined && volume.content !== "backup") throw failure(`only backups support attribute '${name}'`)
  if (notes !== undefined) volume.notes = text(call, "notes")
  if (kept !== undefined) volume.protected = flag(call, "protected")
  return null
}

/** Copies a volume to another name, here or on another node. */
const copyVolume = (call: Call): string => {
  const { world } = call
  const from = nodeOf(call).name
  const id = volid(call)
  const source = findVolume(world, from, id)
  const target = text(call, "target")
  const targetId = target.includes(":") ? target : `${text(call, "storage")}:${target}`
  const node = optionalText(call, "target_node") ?? from
  if (!world.state.nodes.has(node)) throw failure(`no such cluster node '${node}'`)
  const storage = usableStorage(world, targetId.slice(0, targetId.indexOf(":")), node)
  return spawn(call, "imgcopy", "", function* (): Routine<void> {
    if (source === undefined) throw failure(`volume '${id}' does not exist`)
    if (findVolume(world, node, targetId) !== undefined) throw failure(`target volume '${targetId}' already exists`)
    yield* sleep(world.clock, source.usedBytes / world.timing.copyBytesPerMs)
    if (storage.full || world.faults.isStorageFull(storage.id)) throw failure("No space left on device")
    const copy = { ...source, volid: targetId, node, parent: undefined, ctime: nowSeconds(world) }
    storage.volumes.set(storage.shared ? targetId : `${node}/${targetId}`, copy)
  })
}

function* createVolume(call: Call): Routine<string> {
  const { world } = call
  const node = nodeOf(call).name
  const storage = usableStorage(world, text(call, "storage"), node)
  const size = parseSize(text(call, "size").replace(/^(\d+)$/, "$1K"))
  if (size === undefined) throw failure(`unable to parse size '${text(call, "size")}'`)
  const vmid = Number(call.parameters["vmid"])
  const [, name = "", extension] = /^(.*?)(?:\.(raw|qcow2|vmdk))?$/su.exec(text(call, "filename")) ?? []
  const format = optionalText(call, "format") ?? extension ?? "raw"
  if (extension !== undefined && extension !== format)
    throw badParameter({ format: `different storage formats (${format} != ${extension})` })
  if (!name.startsWith(`vm-${vmid}-`) || /[/\s]/u.test(name))
    throw failure(`illegal name '${text(call, "filename")}' - should be 'vm-${vmid}-*'`)
  return yield* world.locks.exclusive(
    storageLock(storage, node),
    world.timing.storageLock,
    () => failure(`can't lock storage '${storage.id}' - got timeout`),
    function* () {
      yield* sleep(world.clock, world.timing.allocation)
      return allocate(world, { storage, node, vmid, sizeBytes: size, usedBytes: 0, format, purpose: "disk", name }).volid
    },
  )
}

function* removeContent(call: Call): Routine<string | null> {
  const { world } = call
  const storage = nodeStorage(call)
  const id = volid(call)
  if (storageOf(id) !== storage.id) throw badParameter({ volume: `storage ID mismatch (${storageOf(id)} != ${storage.id})\n` })
  const owner = ownerOf(id)
  if (owner !== undefined && /:backup\//u.test(id)) {
    demand(world, call.identity, `/storage/${storage.id}`, ["Datastore.AllocateSpace"])
    demand(world, call.identity, `/vms/${owner}`, ["VM.Backup"])
  } else demand(world, call.identity, `/storage/${storage.id}`, ["Datastore.Allocate"])
  const upid = spawn(call, "imgdel", owner === undefined ? storage.id : `${owner}@${storage.id}`, (task) =>
    removal(call, storage, id, task),
  )
  const seconds = optionalNumber(call, "delay")
  const end = seconds === undefined ? undefined : yield* awaitTask(world, upid, seconds)
  if (end === undefined) return upid
  if (!isGoodEnd(end)) throw failure(end)
  return null
}

/** Removes a volume. That a volume is gone already is no failure. */
function* removal(call: Call, storage: StorageState, id: string, task: TaskHandle): Routine<void> {
  const { world } = call
  const node = nodeOf(call).name
  yield* sleep(world.clock, world.timing.configTask)
  const volume = findVolume(world, node, id)
  if (volume?.protected === true) throw failure(`cannot remove protected volume '${id}' on '${storage.id}'`)
  if (volume !== undefined && hasClones(world, volume))
    throw failure(`base volume '${id.slice(id.indexOf(":") + 1)}' is still in use by linked clones`)
  if (volume === undefined && isFileBased(storage)) task.log(`disk image '${pathOf(storage, id)}' does not exist`)
  removeVolume(world, node, id)
  task.log(`Removed volume '${id}'`)
}

/** The storages of a node and their content. */
export const storageRoutes: Routes = {
  "GET /nodes/{node}/storage": nodeList,
  "GET /nodes/{node}/storage/{storage}": (call) => (
    nodeStorage(call),
    ["status", "content", "rrddata"].map((subdir) => ({ subdir }))
  ),
  "GET /nodes/{node}/storage/{storage}/status": nodeStatus,
  "GET /nodes/{node}/storage/{storage}/content": content,
  "POST /nodes/{node}/storage/{storage}/content": createVolume,
  "GET /nodes/{node}/storage/{storage}/content/{volume}": volumeInfo,
  "PUT /nodes/{node}/storage/{storage}/content/{volume}": updateVolume,
  "POST /nodes/{node}/storage/{storage}/content/{volume}": copyVolume,
  "DELETE /nodes/{node}/storage/{storage}/content/{volume}": removeContent,
}
