import { failure } from "../core/errors.ts"
import { isCdrom, isDisk, parsePairs, volumeOf } from "../core/guest-config.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Config } from "../core/state.ts"
import {
  allocate,
  defaultFormat,
  findVolume,
  formatSize,
  storageLock,
  storageLockFailure,
  usableStorage,
} from "../core/volumes.ts"
import type { World } from "../core/world.ts"

/** A disk that is to be made: `storage:GiB` or `storage:cloudinit`. */
export const newDisk = (disk: string): { readonly storage: string; readonly gib: number | "cloudinit" } | undefined => {
  const parts = /^([^:]+):(cloudinit|\d+(?:\.\d+)?)$/.exec(volumeOf(disk))
  if (parts === null) return undefined
  return { storage: parts[1]!, gib: parts[2] === "cloudinit" ? "cloudinit" : Number(parts[2]) }
}

const CLOUDINIT_BYTES = 4 * 1024 * 1024

/** Makes the disks among the changes and stores them as volumes. */
export function* makeDisks(
  world: World,
  guest: { node: string; vmid: number },
  changes: Config,
  log: (line: string) => void,
): Routine<Config> {
  const out: Config = { ...changes }
  for (const key of Object.keys(changes).filter(isDisk)) {
    const disk = String(changes[key])
    const wanted = newDisk(disk)
    if (wanted === undefined) {
      const volume = volumeOf(disk)
      if (volume.includes(":") && !isCdrom(disk)) out[key] = withSize(world, guest.node, disk)
      continue
    }
    const storage = usableStorage(world, wanted.storage, guest.node)
    const format = parsePairs(disk).get("format") ?? defaultFormat(storage)
    const cloudinit = wanted.gib === "cloudinit"
    const sizeBytes = wanted.gib === "cloudinit" ? CLOUDINIT_BYTES : Math.round(wanted.gib * 1024 ** 3)
    const volume = yield* world.locks.exclusive(
      storageLock(storage, guest.node),
      world.timing.storageLock,
      () => storageLockFailure(storage),
      function* (): Routine<ReturnType<typeof allocate>> {
        yield* sleep(world.clock, world.timing.configTask)
        return allocate(world, {
          storage,
          node: guest.node,
          vmid: guest.vmid,
          sizeBytes,
          usedBytes: 0,
          format,
          purpose: cloudinit ? "cloudinit" : "disk",
        })
      },
    )
    const rest = disk
      .split(",")
      .slice(1)
      .filter((part) => !/^(format|size|file|import-from)=/.test(part))
    out[key] = [
      volume.volid,
      ...(cloudinit ? ["media=cdrom"] : rest),
      ...(cloudinit ? [] : [`size=${formatSize(sizeBytes)}`]),
    ].join(",")
    if (!cloudinit) log(`${key}: successfully created disk '${volume.volid},size=${formatSize(sizeBytes)}'`)
  }
  return out
}

const withSize = (world: World, node: string, disk: string): string => {
  const volume = findVolume(world, node, volumeOf(disk))
  if (volume === undefined) throw failure(`volume '${volumeOf(disk)}' does not exist`)
  return /(^|,)size=/.test(disk) ? disk : `${disk},size=${formatSize(volume.sizeBytes)}`
}
