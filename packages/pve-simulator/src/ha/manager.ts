import { turnOff, turnOnStopped } from "../api/guest-power.ts"
import { configLock, withConfig } from "../api/guest-locks.ts"
import { moveGuest } from "../api/guest-migrate.ts"
import { lockOf, touch } from "../core/guest-config.ts"
import { hasQuorum } from "../core/quorum.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Guest, HaResource } from "../core/state.ts"
import { isBroken } from "./resources.ts"
import { startTask, type TaskHandle } from "../core/tasks.ts"
import type { World } from "../core/world.ts"

const manager = { user: "root@pam", tokenid: undefined }

/**
 * What the cluster's manager of high availability does: it brings each resource to the state and the node that were asked for, by tasks of
 * root on the guest's node. It acts a little after it was woken, and only with quorum. Gives the function that wakes it.
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
  // somebody works on it: look again when that may be over
  if (world.locks.isHeld(configLock(guest.vmid)) || lockOf(guest.config) !== undefined) return wake()
  const task = (type: string, body: (task: TaskHandle) => Routine<void>) =>
    startTask(world, { node: guest.node, type, id: String(guest.vmid), author: manager }, (handle) =>
      withConfig(world, guest.vmid, function* (): Routine<void> {
        resource.failures += 1
        try {
          yield* body(handle)
          resource.failures = 0
        } finally {
          wake()
        }
      }),
    )
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
  if (resource.state === "started" && !running) task("qmstart", () => turnOnStopped(world, guest))
  if (resource.state !== "started" && running) task("qmstop", () => pullPlug(world, guest))
}

function* pullPlug(world: World, guest: Guest): Routine<void> {
  yield* sleep(world.clock, world.timing.stopTask)
  turnOff(world, guest)
}

/** Brings the managed guests of a node that is fenced to others: each to the one with the fewest guests, without the lock that it left behind. */
export const recoverFrom = (world: World, node: string): void => {
  for (const { vmid, state } of world.state.ha.values()) {
    const guest = world.state.guests.get(vmid)
    const target = roomiest(world)
    if (guest?.node !== node || state === "ignored" || target === undefined) continue
    touch(world, guest)
    delete guest.config["lock"]
    guest.node = target
    world.trace.add(world.clock.now(), `recovered ${vmid} ${node} ${target}`)
  }
  world.wakeManager()
}

const roomiest = (world: World): string | undefined => {
  const online = [...world.state.nodes.keys()].filter((name) => !world.faults.isNodeDown(name))
  const guestsOn = (name: string) =>
    [...world.state.guests.values()].filter(({ node, status }) => node === name && status === "running")
  return online.toSorted((a, b) => guestsOn(a).length - guestsOn(b).length)[0]
}
