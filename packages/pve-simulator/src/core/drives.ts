import { isCloudInit, isDisc, isDisk, volumeOf } from "./guest-config.ts"
import type { Config, Guest } from "./state.ts"
import { findVolume, removeVolume } from "./volumes.ts"
import type { World } from "./world.ts"

/** Takes a drive's volume out of use: a VM's own disk is kept as an unused one, or removed by force; a cloud-init drive is removed. */
const release = (world: World, guest: Guest, key: string, force: boolean): void => {
  const disk = String(guest.config[key])
  const volume = findVolume(world, guest.node, volumeOf(disk))
  if (volume?.vmid !== guest.vmid || isDisc(disk)) return
  if (force || isCloudInit(disk)) return removeVolume(world, guest.node, volume.volid)
  let n = 0
  while (guest.config[`unused${n}`] !== undefined) n += 1
  guest.config[`unused${n}`] = volume.volid
}

/** Removes an option. The volume of an unused disk is removed with it. */
export const removeOption = (world: World, guest: Guest, key: string, force = false): void => {
  const value = guest.config[key]
  if (value === undefined) return
  if (isDisk(key)) release(world, guest, key, force)
  if (/^unused\d+$/u.test(key)) removeVolume(world, guest.node, volumeOf(String(value)))
  delete guest.config[key]
}

/** Sets an option. The former volume of a drive is no longer used, its new one no longer unused. */
export const setOption = (world: World, guest: Guest, key: string, value: NonNullable<Config[string]>): void => {
  const old = guest.config[key]
  if (isDisk(key)) {
    const volid = volumeOf(String(value))
    if (old !== undefined && volumeOf(String(old)) !== volid) release(world, guest, key, false)
    for (const other of Object.keys(guest.config))
      if (/^unused\d+$/u.test(other) && volumeOf(String(guest.config[other])) === volid) delete guest.config[other]
  }
  guest.config[key] = value
}

/** Makes the pending changes of a VM that is off. */
export const applyPending = (world: World, guest: Guest): void => {
  for (const [key, value] of Object.entries(guest.pending)) {
    if (value === undefined) removeOption(world, guest, key, guest.forced?.includes(key))
    else setOption(world, guest, key, value)
  }
  guest.pending = {}
  delete guest.forced
}
