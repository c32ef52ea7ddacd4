import { turnOff, turnOnStopped } from "../api/guest-power.ts"
import { configLock, withConfig } from "../api/guest-locks.ts"
import { moveGuest } from "../api/guest-migrate.ts"
import { lockOf, touch } from "../core/guest-config.ts"
import { hasQuorum } from "../core/quorum.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Guest, HaResource } from "../core/state.ts"
import { isBroken } from "./resources.ts"
import { mayStay, placesFor } from "./rules.ts"
import { startTask, type TaskHandle } from "../core/tasks.ts"
import type { World } from "../core/world.ts"

const manager = { user: "root@pam", tokenid: undefined }

/**
 * The cluster's high availability manager: it brings each resource to the requested state and node, with tasks of root on the guest's node.
 * It acts a little after it was woken, and only with quorum. Returns the function that wakes it.
 */
export const makeManager = (world: World): (() => void) => {
  let due = false
  const act = () => {
    due = false
    if (!hasQuorum(world)) return
    for (const resource of world.state.ha.values()) attend(world, resource, wake)
  }
  const wake = () => {
    if (due) return
    due = true
    world.clock.schedule(world.timing.haReaction, act)
  }
  return wake
}

const attend = (world: World, resource: HaResource, wake: () => void): void => {
  const guest = world.state.guests.get(resource.vmid)
  if (guest === undefined || resource.state === "ignored" || isBroken(resource) || world.faults.isNodeDown(guest.node)) return
  // the guest is locked: try again later
  if (world.locks.isHeld(configLock(guest.vmid)) || lockOf(guest.config) !== undefined) return wake()
  // count a failure first and reset it on success, so that a task that never finishes counts too
  const task = (type: string, body: (task: TaskHandle) => Routine<void>) => {
    resource.failures += 1
    startTask(world, { node: guest.node, type, id: String(guest.vmid), author: manager }, (handle) =>
      withConfig(world, guest.vmid, function* (): Routine<void> {
        yield* body(handle)
        resource.failures = 0
      }),
    )
    wake()
  }
  const running = guest.status === "running"
  const { wanted } = resource
  if (wanted !== undefined && (wanted.node === guest.node || world.faults.isNodeDown(wanted.node))) resource.wanted = undefined
  else if (wanted !== undefined) {
    if (running && wanted.how === "relocate") task("qmstop", () => pullPlug(world, guest))
    else {
      resource.wanted = undefined
      task("qmigrate", (handle) => moveGuest(world, guest, wanted.node, handle))
    }
    return
  }
  const elsewhere = resource.state === "started" ? wrongPlace(world, resource, guest) : undefined
  if (elsewhere !== undefined) return task("qmigrate", (handle) => moveGuest(world, guest, elsewhere, handle))
  if (resource.state === "started" && !running) task("qmstart", () => turnOnStopped(world, guest))
  if (resource.state !== "started" && running) task("qmstop", () => pullPlug(world, guest))
}

/** The node to which the rules require a guest to move; undefined if it may stay or there is no better node. */
const wrongPlace = (world: World, { vmid, options }: HaResource, guest: Guest): string | undefined => {
  if (mayStay(world, vmid, guest.node, options["failback"] !== 0)) return undefined
  const target = roomiest(world, placesFor(world, vmid))
  return target === guest.node ? undefined : target
}

function* pullPlug(world: World, guest: Guest): Routine<void> {
  yield* sleep(world.clock, world.timing.stopTask)
  turnOff(world, guest)
}

/**
 * Moves the managed guests of a fenced node to others, each to the node with the fewest guests among those that its rules allow, and drops
 * the locks that they had. A guest without an allowed node stays until there is one. Returns true when all have moved.
 */
export const recoverFrom = (world: World, node: string): boolean => {
  let isEmpty = true
  for (const { vmid, state } of world.state.ha.values()) {
    const guest = world.state.guests.get(vmid)
    if (guest?.node !== node || state === "ignored") continue
    const target = roomiest(world, placesFor(world, vmid))
    if (target === undefined) {
      isEmpty = false
      continue
    }
    touch(world, guest)
    delete guest.config["lock"]
    guest.node = target
    world.trace.add(world.clock.now(), `recovered ${vmid} ${node} ${target}`)
  }
  world.wakeManager()
  return isEmpty
}

const roomiest = (world: World, nodes: readonly string[]): string | undefined => {
  const guestsOn = (name: string) =>
    [...world.state.guests.values()].filter(({ node, status }) => node === name && status === "running")
  return nodes.toSorted((a, b) => guestsOn(a).length - guestsOn(b).length)[0]
}
