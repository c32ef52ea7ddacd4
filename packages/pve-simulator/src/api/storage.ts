import { badParameter, failure } from "../core/errors.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { StorageState, Volume } from "../core/state.ts"
import {
  allocate,
  findVolume,
  hasClones,
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
import { checkVolumeAccess, mayReadVolume } from "./volume-access.ts"

const mayAudit = (call: Call, id: string): boolean =>
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
      used: volume.usedBytes,
      ctime: volume.ctime,
      parent: volume.parent ?? null,
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

const removeContent = (call: Call): string => {
  const { world } = call
  const storage = nodeStorage(call)
  const node = nodeOf(call).name
  const id = volid(call)
  const volume = findVolume(world, node, id)
  const [owner, isBackup] = [volume?.vmid, id.slice(id.indexOf(":")).startsWith(":backup/")]
  if (owner !== undefined && isBackup) {
    demand(world, call.identity, `/storage/${storage.id}`, ["Datastore.AllocateSpace"])
    demand(world, call.identity, `/vms/${owner}`, ["VM.Backup"])
  } else demand(world, call.identity, `/storage/${storage.id}`, ["Datastore.Allocate"])
  return spawn(call, "imgdel", id.replaceAll(":", "@").replaceAll("/", "-"), function* (): Routine<void> {
    yield* sleep(world.clock, world.timing.configTask)
    if (volume === undefined) throw failure(`volume '${id}' does not exist`)
    if (volume.protected === true) throw failure(`cannot remove protected volume '${id}' on '${storage.id}'`)
    if (hasClones(world, volume)) throw failure(`base volume '${id}' is still in use by linked clones`)
    removeVolume(world, node, id)
  })
}

const shown = (storage: StorageState) => ({
  storage: storage.id,
  type: storage.type,
  content: storage.content.join(","),
  digest: "da39a3ee5e6b4b0d3255bfef95601890afd80709",
  ...(storage.shared ? { shared: 1 } : {}),
  ...(storage.nodes.length > 0 ? { nodes: storage.nodes.join(",") } : {}),
  ...(storage.disabled ? { disable: 1 } : {}),
  ...storage.options,
})

const list = (call: Call): unknown[] => {
  const type = optionalText(call, "type")
  return [...call.world.state.storages.values()]
    .filter((storage) => mayAudit(call, storage.id) && (type === undefined || storage.type === type))
    .map(shown)
}

const fixed = new Set(["storage", "type", "content", "nodes", "disable", "shared", "delete", "digest"])

/** The options that a call sets, without those that every storage has. */
const optionsOf = (call: Call) =>
  Object.fromEntries(Object.entries(call.parameters).filter(([key]) => !fixed.has(key))) as Record<string, string | number>

const create = (call: Call) => {
  const { world } = call
  const id = text(call, "storage")
  const type = text(call, "type")
  if (world.state.storages.has(id)) throw failure(`create storage failed: storage ID '${id}' already defined`)
  world.state.storages.set(id, {
    id,
    type,
    content: splitList(optionalText(call, "content") ?? "images"),
    shared: flag(call, "shared") || ["nfs", "cifs", "rbd", "cephfs", "iscsi", "pbs"].includes(type),
    nodes: splitList(optionalText(call, "nodes") ?? ""),
    disabled: flag(call, "disable"),
    options: optionsOf(call),
    capacityBytes: 1024 ** 4,
    volumes: new Map(),
    full: false,
  })
  return { storage: id, type }
}

const update = (call: Call) => {
  const storage = storageNamed(call.world, text(call, "storage"))
  const given = call.parameters
  if (given["content"] !== undefined) storage.content = splitList(text(call, "content"))
  if (given["nodes"] !== undefined) storage.nodes = splitList(text(call, "nodes"))
  if (given["disable"] !== undefined) storage.disabled = flag(call, "disable")
  Object.assign(storage.options, optionsOf(call))
  for (const name of splitList(optionalText(call, "delete") ?? "")) {
    if (name === "nodes") storage.nodes = []
    else if (name === "disable") storage.disabled = false
    else delete storage.options[name]
  }
  return { storage: storage.id, type: storage.type }
}

const remove = (call: Call): null => {
  const storage = storageNamed(call.world, text(call, "storage"))
  call.world.state.storages.delete(storage.id)
  return null
}

/** Storages and their content. */
export const storageRoutes: Routes = {
  "GET /storage": list,
  "POST /storage": create,
  "GET /storage/{storage}": (call) => shown(storageNamed(call.world, text(call, "storage"))),
  "PUT /storage/{storage}": update,
  "DELETE /storage/{storage}": remove,
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
