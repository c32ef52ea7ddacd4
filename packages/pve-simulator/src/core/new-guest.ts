import { isCdrom, ownDisks, volumeOf } from "./guest-config.ts"
import { randomUuid } from "./random.ts"
import type { Config, Guest } from "./state.ts"
import { findVolume, renameToBase } from "./volumes.ts"
import type { World } from "./world.ts"

/** The identifiers of a new machine. */
export const newIdentity = (world: World): Config => ({
  smbios1: `uuid=${randomUuid(world.state.random)}`,
  vmgenid: randomUuid(world.state.random),
})

/** A stopped guest with this configuration, not yet known to the status daemon. */
export const newGuest = (world: World, vmid: number, node: string, config: Config): Guest => ({
  vmid,
  node,
  config,
  pending: {},
  snapshots: new Map(),
  parent: undefined,
  status: "stopped",
  paused: false,
  pid: undefined,
  startedAt: undefined,
  boot: { kind: "off" },
  os: undefined,
  execs: new Map(),
  nextExec: 1000,
  changedAt: world.clock.now() + 1,
  reported: undefined,
})

/** Turns the disks of a guest into base volumes and marks it. */
export const toTemplate = (world: World, guest: Guest): void => {
  for (const [key, disk] of ownDisks(guest.config)) {
    if (isCdrom(disk)) continue
    const volume = findVolume(world, guest.node, volumeOf(disk))
    if (volume === undefined) continue
    const renamed = renameToBase(world, guest.node, volume)
    guest.config[key] = [renamed.volid, ...disk.split(",").slice(1)].join(",")
  }
  guest.config["template"] = 1
}
