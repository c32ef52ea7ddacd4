import { badParameter, failure } from "../core/errors.ts"
import { isCdrom, memoryMb, nicsOf, ownDisks, touch, volumeOf } from "../core/guest-config.ts"
import { hasQuorum } from "../core/quorum.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Guest } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import { findVolume, moveToNode, storageNamed, storageOf } from "../core/volumes.ts"
import type { World } from "../core/world.ts"
import { moveBoot } from "../guest/boot.ts"
import { isManaged, requestNode } from "../ha/resources.ts"
import { flag, guestOf, spawn, text, type Call, type Routes } from "../http/call.ts"
import { refuseLocked, withConfig } from "./guest-locks.ts"
import { plugProblem } from "./guest-power.ts"

const localDisks = (world: World, guest: Guest) =>
  ownDisks(guest.config)
    .filter(([, disk]) => !storageNamed(world, storageOf(volumeOf(disk))).shared)
    .map(([drivename, disk]) => ({
      volid: volumeOf(disk),
      drivename,
      size: findVolume(world, guest.node, volumeOf(disk))?.sizeBytes ?? 0,
      cdrom: isCdrom(disk) ? 1 : 0,
      is_unused: 0,
    }))

const preconditions = (call: Call) => {
  const guest = guestOf(call)
  const nodes = [...call.world.state.nodes.keys()].filter((name) => name !== guest.node)
  return {
    running: guest.status === "running" ? 1 : 0,
    allowed_nodes: nodes,
    not_allowed_nodes: {},
    local_disks: localDisks(call.world, guest),
    local_resources: [],
    "mapped-resources": [],
    "mapped-resource-info": {},
    "has-dbus-vmstate": 0,
  }
}

/** What keeps a guest from the node, found out when the other side is asked. */
const obstacle = (world: World, guest: Guest, target: string, withLocalDisks: boolean): string | undefined => {
  const node = world.state.nodes.get(target)
  if (node === undefined || world.faults.isNodeDown(target)) return "migration aborted"
  if (guest.status !== "running") return undefined
  if (localDisks(world, guest).length > 0 && !withLocalDisks)
    return "can't live migrate attached local disks without with-local-disks option"
  const [problem] = nicsOf(guest.config).flatMap((nic) => plugProblem(node, nic) ?? [])
  return problem === undefined ? undefined : `migration aborted: ${problem.text}`
}

/** Brings a guest to another node: its configuration changes hands, local disks are copied, and one that runs goes on there. */
export function* moveGuest(world: World, guest: Guest, target: string, task: TaskHandle, withLocalDisks = false): Routine<void> {
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
    // not so where the power goes: then the lock stays
    delete guest.config["lock"]
    throw error
  }
  for (const disk of local) moveToNode(world, findVolume(world, guest.node, disk.volid)!, target)
  delete guest.config["lock"]
  touch(world, guest)
  moveBoot(world, guest, target)
  task.log("migration finished successfully")
}

const migrate = (call: Call): string => {
  const { world } = call
  const target = text(call, "target")
  if (target === text(call, "node")) throw badParameter({ target: "target is local node." })
  if (!world.state.nodes.has(target)) throw failure(`no such cluster node '${target}'`)
  const guest = guestOf(call)
  refuseLocked(call, guest)
  if (guest.status === "running" && !flag(call, "online")) throw failure("can't migrate running VM without --online")
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
      yield* moveGuest(world, guest, target, task, flag(call, "with-local-disks"))
    }),
  )
}

/** Moving VMs between nodes. */
export const guestMigrateRoutes: Routes = {
  "GET /nodes/{node}/qemu/{vmid}/migrate": preconditions,
  "POST /nodes/{node}/qemu/{vmid}/migrate": migrate,
}
