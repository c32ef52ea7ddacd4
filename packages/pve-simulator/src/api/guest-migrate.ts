import { badParameter, failure } from "../core/errors.ts"
import { isCloudInit, isDisc, isDisk, memoryMb, nicsOf, touch, volumeOf } from "../core/guest-config.ts"
import { hasQuorum } from "../core/quorum.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Guest } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import {
  allocate,
  formatOn,
  findVolume,
  isOnNode,
  moveToNode,
  removeVolume,
  storageNamed,
  storageOf,
  usableStorage,
} from "../core/volumes.ts"
import type { World } from "../core/world.ts"
import { moveBoot } from "../guest/boot.ts"
import { isManaged, requestNode } from "../ha/resources.ts"
import { blockersOf, companions, sidOf } from "../ha/rules.ts"
import { flag, guestOf, optionalText, spawn, text, type Call, type Routes } from "../http/call.ts"
import { demand } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { refuseLocked, withConfig } from "./guest-locks.ts"
import { plugProblem } from "./guest-power.ts"

const localDisks = (world: World, guest: Guest) =>
  Object.entries(guest.config)
    .filter(([key]) => isDisk(key) || /^(?:unused|efidisk|tpmstate)\d+$/u.test(key))
    .map(([drivename, disk]) => ({ drivename, disk: String(disk), volid: volumeOf(String(disk)) }))
    .filter(({ volid }) => world.state.storages.get(storageOf(volid))?.shared === false)
    .map(({ drivename, disk, volid }) => ({
      volid,
      drivename,
      size: findVolume(world, guest.node, volid)?.sizeBytes ?? 0,
      cdrom: isDisc(disk) ? 1 : 0,
      is_unused: drivename.startsWith("unused") ? 1 : 0,
    }))

/** Local devices of the node that a guest uses, which prevent its migration. */
const localResources = ({ config }: Guest): string[] =>
  Object.entries(config)
    .filter(([key, value]) =>
      /^hostpci\d+$/u.test(key)
        ? !String(value).includes("mapping=")
        : /^usb\d+$/u.test(key)
          ? !/spice|mapping=/u.test(String(value))
          : /^(?:serial|parallel)\d+$/u.test(key) && value !== "socket",
    )
    .map(([key]) => key)

/** Storages of a guest's disks that the node does not have. */
const missingStorages = (world: World, guest: Guest, node: string): string[] => [
  ...new Set(
    Object.entries(guest.config)
      .filter(([key]) => isDisk(key))
      .map(([, disk]) => storageOf(volumeOf(String(disk))))
      .filter((id) => {
        const storage = world.state.storages.get(id)
        return storage !== undefined && (storage.disabled || !isOnNode(storage, node))
      }),
  ),
]

const preconditions = (call: Call) => {
  const { world } = call
  const guest = guestOf(call)
  const managed = isManaged(world, guest.vmid)
  const obstacles = [...world.state.nodes.keys()]
    .filter((name) => name !== guest.node)
    .map((name) => {
      const storages = missingStorages(world, guest, name)
      const blockers = managed ? blockersOf(world, guest.vmid, name) : []
      return [
        name,
        {
          ...(storages.length > 0 ? { unavailable_storages: storages } : {}),
          ...(blockers.length > 0 ? { "blocking-ha-resources": blockers } : {}),
        },
      ] as const
    })
  return {
    running: guest.status === "running" ? 1 : 0,
    allowed_nodes: obstacles.flatMap(([name, known]) => (Object.keys(known).length === 0 ? [name] : [])),
    not_allowed_nodes: Object.fromEntries(obstacles.filter(([, known]) => Object.keys(known).length > 0)),
    local_disks: localDisks(world, guest),
    local_resources: localResources(guest),
    "mapped-resources": [],
    "mapped-resource-info": {},
    "has-dbus-vmstate": 0,
    "dependent-ha-resources": managed ? companions(world, guest.vmid).map(sidOf) : [],
  }
}

/** Target storages of local disks: each disk's own storage, unless the caller names others. */
type Places = (storage: string) => string

/** `a:b,c` puts disks of `a` on `b` and all others on `c`; `1` keeps each on its own. */
const placesOf = (call: Call): Places => {
  const given = optionalText(call, "targetstorage")
  if (given === undefined || given === "1") return (storage) => storage
  const pairs = splitList(given).map((pair) => pair.split(":") as [string, string?])
  const others = pairs.filter(([, to]) => to === undefined)
  if (others.length > 1)
    throw badParameter({ targetstorage: "failed to parse storage map: only one entry may be without a source" })
  if (others[0]?.[0] === "1") throw badParameter({ targetstorage: "failed to parse storage map: 1 stands alone" })
  const map = new Map(pairs.flatMap(([from, to]) => (to === undefined ? [] : [[from, to] as const])))
  return (storage) => map.get(storage) ?? others[0]?.[0] ?? storage
}

/** Refuses storages that the target node does not have, that cannot store disks, or on which the caller may not allocate. */
const checkPlaces = (call: Call, guest: Guest, target: string, places: Places): void => {
  const { world, identity } = call
  if (optionalText(call, "targetstorage") === undefined) {
    const [missing] = missingStorages(world, guest, target)
    if (missing !== undefined) throw failure(`storage '${missing}' is not available on node '${target}'`)
    return
  }
  demand(world, identity, `/vms/${guest.vmid}`, ["VM.Config.Disk"])
  for (const id of new Set(localDisks(world, guest).map(({ volid }) => places(storageOf(volid))))) {
    const storage = usableStorage(world, id, target)
    demand(world, identity, `/storage/${id}`, ["Datastore.AllocateSpace"])
    if (!storage.content.includes("images")) throw failure(`storage '${id}' does not support vm images`)
  }
}

/** The reason why a guest cannot run on the target node; undefined if it can. Found only when the target is contacted. */
const obstacle = (world: World, guest: Guest, target: string, withLocalDisks: boolean): string | undefined => {
  const node = world.state.nodes.get(target)
  if (node === undefined || world.faults.isNodeDown(target)) return "migration aborted"
  const local = localDisks(world, guest)
  const disc = local.find(({ cdrom }) => cdrom === 1)
  if (disc !== undefined) return `can't migrate local cdrom '${disc.volid}'`
  const devices = localResources(guest)
  if (devices.length > 0) return `can't migrate VM which uses local devices: ${devices.join(", ")}`
  if (guest.status !== "running") return undefined
  if (local.length > 0 && !withLocalDisks) return "can't live migrate attached local disks without with-local-disks option"
  const [problem] = nicsOf(guest.config).flatMap((nic) => plugProblem(node, nic) ?? [])
  return problem === undefined ? undefined : `migration aborted: ${problem.text}`
}

/** Migrates a guest to another node: moves its configuration, copies local disks, and continues a running guest there. */
export function* moveGuest(
  world: World,
  guest: Guest,
  target: string,
  task: TaskHandle,
  withLocalDisks = false,
  places: Places = (storage) => storage,
): Routine<void> {
  const reason = obstacle(world, guest, target, withLocalDisks)
  if (reason !== undefined) throw failure(reason)
  task.log(`starting migration of VM ${guest.vmid} to node '${target}' (${world.state.nodes.get(target)!.address})`)
  const local = localDisks(world, guest)
  const memory = guest.status === "running" ? memoryMb(guest.config) * 1024 ** 2 : 0
  const copied = local.reduce((sum, disk) => sum + (findVolume(world, guest.node, disk.volid)?.usedBytes ?? 0), 0)
  touch(world, guest)
  guest.config["lock"] = "migrate"
  try {
    yield* sleep(
      world.clock,
      world.timing.migrateTask + copied / world.timing.copyBytesPerMs + memory / world.timing.memoryBytesPerMs,
    )
    if (world.faults.isNodeDown(target) || !hasQuorum(world)) throw failure("migration aborted")
  } catch (error) {
    // if the node loses power instead, the lock stays
    delete guest.config["lock"]
    throw error
  }
  for (const disk of local) moveDisk(world, guest, disk, target, places)
  delete guest.config["lock"]
  touch(world, guest)
  moveBoot(world, guest, target)
  task.log("migration finished successfully")
}

const moveDisk = (
  world: World,
  guest: Guest,
  { drivename, volid }: { readonly drivename: string; readonly volid: string },
  target: string,
  places: Places,
): void => {
  const volume = findVolume(world, guest.node, volid)
  if (volume === undefined) return
  const place = places(storageOf(volid))
  if (place === storageOf(volid)) return moveToNode(world, volume, target)
  const storage = storageNamed(world, place)
  const purpose = isCloudInit(volid) ? "cloudinit" : "disk"
  const { sizeBytes, usedBytes } = volume
  const made = allocate(world, {
    storage,
    node: target,
    vmid: guest.vmid,
    sizeBytes,
    usedBytes,
    format: formatOn(storage, volume.format),
    purpose,
  })
  removeVolume(world, guest.node, volid)
  guest.config[drivename] = [made.volid, ...String(guest.config[drivename]).split(",").slice(1)].join(",")
}

const migrate = (call: Call): string => {
  const { world } = call
  const target = text(call, "target")
  if (target === text(call, "node")) throw badParameter({ target: "target is local node." })
  if (!world.state.nodes.has(target)) throw failure(`no such cluster node '${target}'`)
  for (const option of ["force", "migration_type", "migration_network"])
    if (call.parameters[option] !== undefined && !call.identity.isRoot)
      throw badParameter({ [option]: "Only root may use this option." })
  const guest = guestOf(call)
  refuseLocked(call, guest)
  if (guest.status === "running" && !flag(call, "online")) throw failure("can't migrate running VM without --online")
  const places = placesOf(call)
  checkPlaces(call, guest, target, places)
  if (isManaged(world, guest.vmid))
    return spawn(call, "hamigrate", guest.vmid, function* (): Routine<void> {
      yield* sleep(world.clock, world.timing.configTask)
      const [blocker] = requestNode(world, guest.vmid, target, "migrate").blockers
      if (blocker !== undefined)
        throw failure(`cannot migrate resource 'vm:${guest.vmid}' to node '${target}': ${blocker.cause} of ${blocker.sid}`)
    })
  return spawn(call, "qmigrate", guest.vmid, (task) =>
    withConfig(world, guest.vmid, function* (): Routine<void> {
      refuseLocked(call, guest)
      yield* moveGuest(world, guest, target, task, flag(call, "with-local-disks"), places)
    }),
  )
}

/** Migration of VMs between nodes. */
export const guestMigrateRoutes: Routes = {
  "GET /nodes/{node}/qemu/{vmid}/migrate": preconditions,
  "POST /nodes/{node}/qemu/{vmid}/migrate": migrate,
}
