import { untilBacked } from "../core/backed.ts"
import { failure } from "../core/errors.ts"
import { digestOf, isCdrom, lockOf, memoryMb, ownDisks, parsePairs, touch, volumeOf } from "../core/guest-config.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Config, Guest, Snapshot } from "../core/state.ts"
import { allocate, findVolume, parseSize, removeVolume, storageNamed, storageOf } from "../core/volumes.ts"
import { randomUuid } from "../core/random.ts"
import { nowSeconds, type World } from "../core/world.ts"
import { wake } from "../guest/boot.ts"
import { flag, guestOf, optionalText, spawn, text, vmidOf, type Call, type Routes } from "../http/call.ts"
import { canSnapshot, shownSnapshot } from "./guests.ts"
import { powerOn, turnOff } from "./guest-power.ts"
import { withConfig } from "./guest-locks.ts"

const refuseLocked = (guest: Guest): void => {
  const lock = lockOf(guest.config)
  if (lock !== undefined) throw failure(`VM is locked (${lock})`)
}

const list = (call: Call): unknown[] => {
  const guest = guestOf(call)
  const snapshots = [...guest.snapshots.values()].toReversed().map((snapshot) => ({
    name: snapshot.name,
    description: snapshot.description,
    snaptime: snapshot.time,
    vmstate: snapshot.memory ? 1 : 0,
    ...(snapshot.parent === undefined ? {} : { parent: snapshot.parent }),
  }))
  const current = {
    name: "current",
    description: "You are here!",
    running: guest.status === "running" ? 1 : 0,
    digest: digestOf(guest),
    ...(guest.parent === undefined ? {} : { parent: guest.parent }),
  }
  return [...snapshots, current]
}

const withoutLock = (config: Config): Config => {
  const { lock: _, ...rest } = config
  return rest
}

const create = (call: Call): string => {
  const { world } = call
  const name = text(call, "snapname")
  if (name === "current" || name === "pending") throw failure(`unable to use snapshot name '${name}' (reserved name)`)
  return spawn(call, "qmsnapshot", vmidOf(call), (task) =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      refuseLocked(guest)
      if (guest.config["template"] === 1) throw failure("you can't take a snapshot if it's a template")
      if (guest.snapshots.has(name)) throw failure(`snapshot name '${name}' already used`)
      if (!canSnapshot(world, guest)) throw failure("snapshot feature is not available")
      const memory = flag(call, "vmstate") && guest.status === "running"
      touch(world, guest)
      guest.config["lock"] = "snapshot"
      world.backing?.keep(guest.vmid, name)
      try {
        yield* sleep(
          world.clock,
          world.timing.snapshotTask + (memory ? (memoryMb(guest.config) * 1024 ** 2) / world.timing.memoryBytesPerMs : 0),
        )
        yield* untilBacked(world, guest.vmid)
        for (const [key, disk] of ownDisks(guest.config))
          if (!isCdrom(disk)) task.log(`snapshotting 'drive-${key}' (${volumeOf(disk)})`)
      } finally {
        delete guest.config["lock"]
      }
      keep(world, guest, name, optionalText(call, "description") ?? "", memory)
    }),
  )
}

const keep = (world: World, guest: Guest, name: string, description: string, memory: boolean): void => {
  const config: Config = { ...withoutLock(guest.config) }
  if (memory) config["vmstate"] = memoryVolume(world, guest, name)
  const snapshot: Snapshot = {
    name,
    parent: guest.parent,
    description,
    time: nowSeconds(world),
    memory,
    config,
    os: guest.os === undefined ? undefined : structuredClone(guest.os),
    ...(memory ? { clockBehind: guest.clockBehind ?? 0 } : {}),
  }
  guest.snapshots.set(name, snapshot)
  guest.parent = name
}

/** The volume for a saved memory, on the storage of the first disk. */
const memoryVolume = (world: World, guest: Guest, name: string): string => {
  const [, disk] = ownDisks(guest.config)[0] ?? ["", "local:"]
  const storage = storageNamed(world, storageOf(volumeOf(disk)))
  const bytes = memoryMb(guest.config) * 1024 ** 2
  return allocate(world, {
    storage,
    node: guest.node,
    vmid: guest.vmid,
    sizeBytes: bytes,
    usedBytes: bytes,
    format: "raw",
    purpose: `state-${name}`,
  }).volid
}

const snapshotOf = (call: Call, guest: Guest): Snapshot => {
  const name = text(call, "snapname")
  const snapshot = guest.snapshots.get(name)
  if (snapshot === undefined) throw failure(`snapshot '${name}' does not exist`)
  return snapshot
}

const config = (call: Call): unknown => shownSnapshot(snapshotOf(call, guestOf(call)))

function* describe(call: Call): Routine<null> {
  yield* withConfig(call.world, vmidOf(call), function* (): Routine<void> {
    const snapshot = snapshotOf(call, guestOf(call))
    snapshot.description = optionalText(call, "description") ?? snapshot.description
  })
  return null
}

/** A rollback does not change the description and unused volumes. */
const isNeverRolledBack = (key: string): boolean => key === "description" || /^unused\d+$/.test(key)

/** The configuration after a rollback: the snapshot's, except for options that keep their present value. */
const rolledBack = (world: World, now: Config, { vmstate: _memory, ...kept }: Config): Config => ({
  ...Object.fromEntries(Object.entries(kept).filter(([key]) => !isNeverRolledBack(key))),
  ...Object.fromEntries(Object.entries(now).filter(([key]) => isNeverRolledBack(key))),
  // a new generation ID tells the guest that it was rolled back
  ...(kept["vmgenid"] === undefined ? {} : { vmgenid: randomUuid(world.state.random) }),
})

const rollback = (call: Call): string => {
  const { world } = call
  return spawn(call, "qmrollback", vmidOf(call), () =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      const snapshot = snapshotOf(call, guest)
      refuseLocked(guest)
      if (guest.config["template"] === 1) throw failure("unable to rollback to snapshot - VM is a template")
      const wasRunning = guest.status === "running"
      if (wasRunning) turnOff(world, guest)
      touch(world, guest)
      guest.config["lock"] = "rollback"
      world.backing?.goBack(guest.vmid, snapshot.name)
      yield* sleep(world.clock, world.timing.snapshotTask)
      yield* untilBacked(world, guest.vmid)
      touch(world, guest)
      guest.config = rolledBack(world, guest.config, snapshot.config)
      guest.pending = {}
      guest.parent = snapshot.name
      guest.os = snapshot.os === undefined ? undefined : structuredClone(snapshot.os)
      restoreSizes(world, guest)
      if (snapshot.memory || flag(call, "start")) resume(world, guest, snapshot)
    }),
  )
}

/** A guest whose memory was restored runs at once where it was, with the clock of the snapshot. */
const resume = (world: World, guest: Guest, { memory, time, clockBehind = 0 }: Snapshot): void => {
  powerOn(world, guest)
  if (!memory) return
  wake(world, guest)
  guest.clockBehind = (nowSeconds(world) - time) * 1000 + clockBehind
}

const restoreSizes = (world: World, guest: Guest): void => {
  for (const [, disk] of ownDisks(guest.config)) {
    const volume = findVolume(world, guest.node, volumeOf(disk))
    const size = parseSize(parsePairs(disk).get("size") ?? "")
    if (volume !== undefined && size !== undefined) volume.sizeBytes = size
  }
}

const remove = (call: Call): string => {
  const { world } = call
  return spawn(call, "qmdelsnapshot", vmidOf(call), () =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      const snapshot = snapshotOf(call, guest)
      refuseLocked(guest)
      touch(world, guest)
      guest.config["lock"] = "snapshot-delete"
      try {
        yield* sleep(world.clock, world.timing.snapshotTask)
      } finally {
        delete guest.config["lock"]
      }
      const state = snapshot.config["vmstate"]
      if (state !== undefined) removeVolume(world, guest.node, String(state))
      world.backing?.drop(guest.vmid, snapshot.name)
      guest.snapshots.delete(snapshot.name)
      for (const other of guest.snapshots.values()) {
        if (other.parent === snapshot.name) guest.snapshots.set(other.name, { ...other, parent: snapshot.parent })
      }
      if (guest.parent === snapshot.name) guest.parent = snapshot.parent
    }),
  )
}

/** Snapshots. */
export const guestSnapshotRoutes: Routes = {
  "GET /nodes/{node}/qemu/{vmid}/snapshot": list,
  "POST /nodes/{node}/qemu/{vmid}/snapshot": create,
  "GET /nodes/{node}/qemu/{vmid}/snapshot/{snapname}": (call) => (
    snapshotOf(call, guestOf(call)),
    [{ cmd: "rollback" }, { cmd: "config" }]
  ),
  "DELETE /nodes/{node}/qemu/{vmid}/snapshot/{snapname}": remove,
  "GET /nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config": config,
  "PUT /nodes/{node}/qemu/{vmid}/snapshot/{snapname}/config": describe,
  "POST /nodes/{node}/qemu/{vmid}/snapshot/{snapname}/rollback": rollback,
}
