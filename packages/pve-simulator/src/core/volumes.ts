import { failure } from "./errors.ts"
import type { StorageState, Volume } from "./state.ts"
import { nowSeconds, type World } from "./world.ts"

const units: Readonly<Record<string, number>> = { "": 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 }

/** Bytes of a size such as `32G`; undefined if it is invalid. */
export const parseSize = (text: string): number | undefined => {
  const parts = /^(\d+(?:\.\d+)?)([KMGT]?)$/.exec(text)
  return parts === null ? undefined : Math.ceil(Number(parts[1]) * units[parts[2]!]!)
}

/** A size as configurations show it: in the largest unit that divides it. */
export const formatSize = (bytes: number): string => {
  for (const unit of ["T", "G", "M", "K"]) {
    const size = units[unit]!
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`
  }
  return String(bytes)
}

/** Returns a storage by id, or fails with its name. */
export const storageNamed = (world: World, id: string): StorageState => {
  const storage = world.state.storages.get(id)
  if (storage === undefined) throw failure(`storage '${id}' does not exist`)
  return storage
}

/** Whether a node has a storage. */
export const isOnNode = (storage: StorageState, node: string): boolean =>
  storage.nodes.length === 0 || storage.nodes.includes(node)

/** A storage on which this node may put guest disks. */
export const usableStorage = (world: World, id: string, node: string): StorageState => {
  const storage = storageNamed(world, id)
  if (storage.disabled) throw failure(`storage '${id}' is disabled`)
  if (!isOnNode(storage, node)) throw failure(`storage '${id}' is not available on node '${node}'`)
  return storage
}

/** Whether volumes of a storage are files in a folder. */
export const isFileBased = (storage: StorageState): boolean => ["dir", "nfs", "cifs", "cephfs", "btrfs"].includes(storage.type)

/** Whether the storage supports linked clones: in a folder, of files in any format. */
export const canLink = (storage: StorageState): boolean => storage.type !== "lvm"

/** The storage's lock for allocations, local to a node or cluster-wide. */
export const storageLock = (storage: StorageState, node: string): string =>
  `storage ${storage.shared ? "" : `${node}/`}${storage.id}`

/** The error after waiting too long for that lock. */
export const storageLockFailure = (storage: StorageState): Error =>
  failure(
    storage.shared
      ? `cfs-lock 'storage-${storage.id}' error: got lock request timeout`
      : `can't lock file '/var/lock/pve-manager/pve-storage-${storage.id}' - got timeout`,
  )

const keyOf = (storage: StorageState, node: string, volid: string): string => (storage.shared ? volid : `${node}/${volid}`)

/** The storage part of a volume id. */
export const storageOf = (volid: string): string => volid.slice(0, Math.max(0, volid.indexOf(":")))

/** A volume as seen from a node; undefined if it does not exist. */
export const findVolume = (world: World, node: string, volid: string): Volume | undefined => {
  const storage = world.state.storages.get(storageOf(volid))
  return storage?.volumes.get(keyOf(storage, node, volid))
}

/** All volumes of a storage that a node sees. */
export const volumesOn = (storage: StorageState, node: string): Volume[] =>
  storage.shared ? [...storage.volumes.values()] : [...storage.volumes.values()].filter((volume) => volume.node === node)

/** Bytes in use on a shared storage, or on a node's part of a local one. */
export const usedBytes = (storage: StorageState, node: string): number => {
  let sum = 0
  for (const volume of storage.volumes.values()) if (storage.shared || volume.node === node) sum += volume.usedBytes
  return sum
}

/** The format of a disk on a storage if this one is preferred: block storage has raw disks only, and a folder's are raw by default. */
export const formatOn = (storage: StorageState, preferred = "raw"): string => (isFileBased(storage) ? preferred : "raw")

/** The format of a cloud-init drive on a storage. */
export const cloudInitFormat = (storage: StorageState): string => formatOn(storage, "qcow2")

/** A volume to create. */
export interface Allocation {
  readonly storage: StorageState
  readonly node: string
  readonly vmid: number
  readonly sizeBytes: number
  readonly usedBytes: number
  readonly format: string
  /** `disk`, `cloudinit` or `state-NAME`. */
  readonly purpose: string
  /** The base volume of a linked clone. */
  readonly parent?: Volume
  readonly base?: boolean
  /** Its name without an extension; default: the next free one. */
  readonly name?: string
}

/** Creates a volume, by default with the next free name of its VM. */
export const allocate = (world: World, request: Allocation): Volume => {
  const { storage, node, vmid } = request
  if (storage.full || world.faults.isStorageFull(storage.id)) throw failure(`storage '${storage.id}': not enough free space`)
  if (request.format !== formatOn(storage, request.format))
    throw failure(`unsupported format '${request.format}' at /usr/share/perl5/PVE/Storage/LvmThinPlugin.pm line 91.`)
  const prefix = request.base === true ? "base" : "vm"
  const suffix = isFileBased(storage) ? `.${request.format}` : ""
  const volidOf = (name: string) => {
    const own = isFileBased(storage) ? `${vmid}/${name}${suffix}` : name
    if (request.parent === undefined || storage.type === "lvmthin") return `${storage.id}:${own}`
    return `${request.parent.volid}/${own}`
  }
  const taken = (name: string) => isTaken(storage, node, vmid, name)
  let name = request.name ?? `${prefix}-${vmid}-${request.purpose}`
  if (request.name !== undefined && taken(name)) throw failure(`disk image '${volidOf(name)}' already exists`)
  if (request.purpose === "disk" && request.name === undefined) {
    let n = 0
    while (taken(`vm-${vmid}-disk-${n}`) || taken(`base-${vmid}-disk-${n}`)) n += 1
    name = `${prefix}-${vmid}-disk-${n}`
  }
  const volume: Volume = {
    volid: volidOf(name),
    node,
    vmid,
    sizeBytes: request.sizeBytes,
    usedBytes: request.usedBytes,
    format: request.format,
    content: "images",
    ctime: nowSeconds(world),
    parent: request.parent?.volid,
  }
  storage.volumes.set(keyOf(storage, node, volume.volid), volume)
  return volume
}

const isTaken = (storage: StorageState, node: string, vmid: number, name: string): boolean => {
  const own = isFileBased(storage) ? `${vmid}/${name}.` : name
  for (const volume of storage.volumes.values()) {
    if (volume.vmid === vmid && (storage.shared || volume.node === node) && endsLike(volume.volid, own)) return true
  }
  return false
}

const endsLike = (volid: string, own: string): boolean => volid.endsWith(own) || (own.endsWith(".") && volid.includes(own))

/** Removes a volume; does nothing if it does not exist. */
export const removeVolume = (world: World, node: string, volid: string): void => {
  const storage = world.state.storages.get(storageOf(volid))
  storage?.volumes.delete(keyOf(storage, node, volid))
}

/** True while a linked clone depends on this base volume. */
export const hasClones = (world: World, base: Volume): boolean => {
  const storage = world.state.storages.get(storageOf(base.volid))
  if (storage === undefined) return false
  for (const volume of storage.volumes.values()) {
    if (volume.parent === base.volid && (storage.shared || volume.node === base.node)) return true
  }
  return false
}

/** Renames a volume, as when a template is made. */
export const renameToBase = (world: World, node: string, volume: Volume): Volume => {
  const storage = storageNamed(world, storageOf(volume.volid))
  const renamed: Volume = { ...volume, volid: volume.volid.replace(/vm-(\d+-disk-\d[^/]*)$/, "base-$1") }
  storage.volumes.delete(keyOf(storage, node, volume.volid))
  storage.volumes.set(keyOf(storage, node, renamed.volid), renamed)
  return renamed
}

/** Copies the record of a volume to another node of the same local storage (offline migration). */
export const moveToNode = (world: World, volume: Volume, target: string): void => {
  const storage = storageNamed(world, storageOf(volume.volid))
  if (storage.shared) return
  storage.volumes.delete(keyOf(storage, volume.node, volume.volid))
  storage.volumes.set(keyOf(storage, target, volume.volid), { ...volume, node: target })
}
