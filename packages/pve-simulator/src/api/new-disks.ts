import { badParameter, failure } from "../core/errors.ts"
import { isCdrom, isCloudInit, isDisk, normaliseDisk, parsePairs, volumeOf } from "../core/guest-config.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Config, StorageState, Volume } from "../core/state.ts"
import {
  allocate,
  cloudInitFormat,
  formatOn,
  findVolume,
  formatSize,
  isFileBased,
  removeVolume,
  storageLock,
  storageLockFailure,
  storageOf,
  usableStorage,
} from "../core/volumes.ts"
import { makingOf } from "../core/volume-paths.ts"
import type { World } from "../core/world.ts"

/** A disk to create: `storage:GiB` or `storage:cloudinit`. */
export const newDisk = (disk: string): { readonly storage: string; readonly gib: number | "cloudinit" } | undefined => {
  const parts = /^([^:]+):(cloudinit|\d+(?:\.\d+)?)$/.exec(volumeOf(disk))
  if (parts === null) return undefined
  return { storage: parts[1]!, gib: parts[2] === "cloudinit" ? "cloudinit" : Number(parts[2]) }
}

const MIB = 1024 * 1024

/** The size of the EFI variables in QEMU's firmware. */
const efiBytes = (disk: string): number => (parsePairs(disk).get("efitype") === "4m" ? 528 : 128) * 1024

/** Block storage allocates whole extents. */
const allocated = (storage: StorageState, bytes: number): number => {
  if (isFileBased(storage)) return bytes
  const extent = storage.type.startsWith("lvm") ? 4 * MIB : MIB
  return Math.ceil(bytes / extent) * extent
}

/** The size of a new disk; the sizes of some kinds are fixed. */
const sizeOf = (storage: StorageState, key: string, disk: string, gib: number | "cloudinit"): number => {
  if (gib === "cloudinit" || key === "tpmstate0") return 4 * MIB
  if (key === "efidisk0") return allocated(storage, efiBytes(disk))
  return Math.round(gib * 1024 ** 3)
}

/** What a new disk is copied from, if it is an import. */
const sourceOf = (disk: string): string | undefined => parsePairs(disk).get("import-from")

const isDiscImage = (volid: string): boolean => /^[^:/]+:iso\//u.test(volid)

/** Refuses disc images outside of disc drives, imports of another form, and imports of what is not the image of a disk. */
export const checkDrives = (options: Config): void => {
  for (const [key, value] of Object.entries(options)) if (isDisk(key)) checkDrive(key, String(value))
}

const checkDrive = (key: string, disk: string): void => {
  if (isDiscImage(volumeOf(disk)) && !isCdrom(disk))
    throw badParameter({ [key]: "explicit 'media=cdrom' is required for iso images" })
  const source = sourceOf(disk)
  if (source === undefined) return
  if (newDisk(disk)?.gib !== 0)
    throw badParameter({ [key]: "'import-from' requires special syntax - use <storage ID>:0,import-from=<source>" })
  const [, type = "images"] = /^[^:/]+:(iso|vztmpl|backup|snippets)\//u.exec(source) ?? []
  if (type !== "images") throw badParameter({ [key]: `${source} has wrong type '${type}' - needs to be 'images' or 'import'` })
}

/** The guest for which disks are created. */
interface Owner {
  readonly node: string
  readonly vmid: number
  readonly config: Config
}

/** Refuses a cloud-init drive beside another one. */
const refuseSecond = (key: string, disk: string, config: Config): void => {
  if (!isCloudInit(disk)) return
  const other = Object.keys(config).find((each) => each !== key && isDisk(each) && isCloudInit(String(config[each])))
  if (other !== undefined && other < key) throw failure(`${key} - cloud-init drive is already attached at '${other}'`)
}

/** Creates the new disks among the changes; returns the changes with their volumes. If one fails, those already created are removed. */
export function* makeDisks(world: World, owner: Owner, changes: Config, log: (line: string) => void): Routine<Config> {
  const out: Config = { ...changes }
  const made: Volume[] = []
  try {
    for (const key of Object.keys(changes).filter(isDisk)) {
      const disk = normaliseDisk(key, String(changes[key]))
      refuseSecond(key, disk, { ...owner.config, ...out })
      if (newDisk(disk) !== undefined) out[key] = yield* makeDisk(world, owner, key, disk, made, log)
      else if (volumeOf(disk).includes(":")) out[key] = withSize(world, owner.node, disk)
    }
    return out
  } catch (error) {
    for (const volume of made) removeVolume(world, volume.node, volume.volid)
    throw error
  }
}

function* makeDisk(
  world: World,
  owner: Owner,
  key: string,
  disk: string,
  made: Volume[],
  log: (line: string) => void,
): Routine<string> {
  const wanted = newDisk(disk)!
  const { node, vmid } = owner
  const storage = usableStorage(world, wanted.storage, node)
  const source = importedVolume(world, node, sourceOf(disk))
  const cloudinit = wanted.gib === "cloudinit"
  const preferred = parsePairs(disk).get("format")
  const format =
    source === undefined
      ? (preferred ?? (cloudinit ? cloudInitFormat(storage) : formatOn(storage)))
      : formatOn(storage, preferred ?? source.format)
  const sizeBytes = source?.sizeBytes ?? sizeOf(storage, key, disk, wanted.gib)
  const purpose = cloudinit ? "cloudinit" : "disk"
  const usedBytes = source?.usedBytes ?? 0
  const fail = () => storageLockFailure(storage)
  yield* world.locks.exclusive(storageLock(storage, node), world.timing.storageLock, fail, function* (): Routine<void> {
    yield* sleep(world.clock, world.timing.configTask)
    made.push(allocate(world, { storage, node, vmid, sizeBytes, usedBytes, format, purpose }))
  })
  const volume = made.at(-1)!
  if (source !== undefined) yield* sleep(world.clock, Math.ceil(usedBytes / world.timing.copyBytesPerMs))
  for (const line of makingOf(storage, volume)) log(line)
  const stored = cloudinit ? `${volume.volid},media=cdrom` : storedDisk(key, disk, volume)
  log(`${key}: successfully created disk '${stored}'`)
  return stored
}

/** A created disk as the configuration shows it. */
const storedDisk = (key: string, disk: string, { volid, sizeBytes }: Volume): string => {
  const options = disk
    .split(",")
    .filter((part) => part.includes("=") && !/^(?:format|size|file|import-from|ms-cert)=/u.test(part))
  // firmware with enrolled keys knows the newest certificates
  if (options.includes("pre-enrolled-keys=1")) options.push("ms-cert=2023k")
  return normaliseDisk(key, [volid, ...options, `size=${formatSize(sizeBytes)}`].join(","))
}

/** The volume to import: an uploaded or downloaded image, or the disk of a VM. */
const importedVolume = (world: World, node: string, source: string | undefined): Volume | undefined => {
  if (source === undefined) return undefined
  if (source.startsWith("/")) throw failure(`can't find file '${source}'`)
  const volume = findVolume(world, node, source)
  if (volume === undefined) throw failure(`cannot import from '${source}' - could not get size of ${source}`)
  return volume
}

/** An existing volume in a drive, with its size. */
const withSize = (world: World, node: string, disk: string): string => {
  const volid = volumeOf(disk)
  const volume = findVolume(world, node, volid)
  if (volume === undefined) throw missingVolume(world, volid)
  return /(^|,)size=/.test(disk) ? disk : `${disk},size=${formatSize(volume.sizeBytes)}`
}

const missingVolume = (world: World, volid: string): Error => {
  const storage = world.state.storages.get(storageOf(volid))
  const isLogical = storage?.type.startsWith("lvm") === true
  const group = String(storage?.options["vgname"] ?? "pve")
  return failure(
    isLogical ? `no such logical volume ${group}/${volid.slice(volid.indexOf(":") + 1)}` : `volume '${volid}' does not exist`,
  )
}
