import { failure } from "../core/errors.ts"
import { isCdrom, isDisk, normaliseDisk, parsePairs, volumeOf } from "../core/guest-config.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Config, Volume } from "../core/state.ts"
import {
  allocate,
  cloudInitFormat,
  formatOn,
  findVolume,
  formatSize,
  removeVolume,
  storageLock,
  storageLockFailure,
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

const CLOUDINIT_BYTES = 4 * 1024 * 1024

/** The guest for which disks are created. */
interface Owner {
  readonly node: string
  readonly vmid: number
}

/** Creates the new disks among the changes; returns the changes with their volumes. If one fails, those already created are removed. */
export function* makeDisks(world: World, owner: Owner, changes: Config, log: (line: string) => void): Routine<Config> {
  const out: Config = { ...changes }
  const made: Volume[] = []
  try {
    for (const key of Object.keys(changes).filter(isDisk)) {
      const disk = normaliseDisk(key, String(changes[key]))
      if (newDisk(disk) !== undefined) out[key] = yield* makeDisk(world, owner, key, disk, made, log)
      else if (volumeOf(disk).includes(":") && !isCdrom(disk)) out[key] = withSize(world, owner.node, disk)
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
  const cloudinit = wanted.gib === "cloudinit"
  const format = parsePairs(disk).get("format") ?? (cloudinit ? cloudInitFormat(storage) : formatOn(storage))
  const sizeBytes = wanted.gib === "cloudinit" ? CLOUDINIT_BYTES : Math.round(wanted.gib * 1024 ** 3)
  const purpose = cloudinit ? "cloudinit" : "disk"
  const fail = () => storageLockFailure(storage)
  yield* world.locks.exclusive(storageLock(storage, node), world.timing.storageLock, fail, function* (): Routine<void> {
    yield* sleep(world.clock, world.timing.configTask)
    made.push(allocate(world, { storage, node, vmid, sizeBytes, usedBytes: 0, format, purpose }))
  })
  const volume = made.at(-1)!
  const { volid } = volume
  for (const line of makingOf(storage, volume)) log(line)
  if (cloudinit) {
    log(`${key}: successfully created disk '${volid},media=cdrom'`)
    return `${volid},media=cdrom`
  }
  const rest = disk.split(",").slice(1)
  log(`${key}: successfully created disk '${volid},size=${formatSize(sizeBytes)}'`)
  return [volid, ...rest.filter((part) => !/^(format|size|file|import-from)=/.test(part)), `size=${formatSize(sizeBytes)}`].join(
    ",",
  )
}

const withSize = (world: World, node: string, disk: string): string => {
  const volume = findVolume(world, node, volumeOf(disk))
  if (volume === undefined) throw failure(`volume '${volumeOf(disk)}' does not exist`)
  return /(^|,)size=/.test(disk) ? disk : `${disk},size=${formatSize(volume.sizeBytes)}`
}
