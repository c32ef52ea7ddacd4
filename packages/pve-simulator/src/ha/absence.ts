import { adoptSdn } from "../api/sdn-nodes.ts"
import { turnOff, turnOnStopped } from "../api/guest-power.ts"
import { withConfig } from "../api/guest-locks.ts"
import { bootHost } from "../core/host-network.ts"
import { hasQuorum } from "../core/quorum.ts"
import { killTasksOf, startTask } from "../core/tasks.ts"
import type { World } from "../core/world.ts"
import { recoverFrom } from "./manager.ts"

/** A node that the others do not see: whether it is without power, and a function that cancels its fencing. */
interface Absence {
  off: boolean
  readonly cancelFence: () => void
}

/**
 * Follows the nodes that the fault plan takes down and brings back. A node that loses power ends its tasks and running guests. An
 * unreachable node resets itself if it has managed guests, because otherwise they might still run there. After a delay the other nodes take
 * these guests over. A node without power later boots with the networks that were applied meanwhile, and with the guests that start on
 * boot. Returns the function to call after each change of the plan.
 */
export const watchNodes = (world: World): (() => void) => {
  const absent = new Map<string, Absence>()
  const fenceAfter = (name: string, ms: number): (() => void) => world.clock.schedule(ms, () => fence(name))
  const fence = (name: string): void => {
    const absence = absent.get(name)
    if (absence === undefined || !holdsManaged(world, name)) return
    if (!hasQuorum(world)) return void absent.set(name, { ...absence, cancelFence: fenceAfter(name, world.timing.haReaction) })
    if (!absence.off) cutPower(world, name)
    absence.off = true
    // try again later for guests that no node can take yet
    if (!recoverFrom(world, name)) absent.set(name, { ...absence, cancelFence: fenceAfter(name, world.timing.haReaction) })
  }
  return () => {
    for (const { name } of world.state.nodes.values()) {
      const absence = absent.get(name)
      const off = world.faults.isNodeOff(name)
      if (off && absence?.off !== true) cutPower(world, name)
      if (world.faults.isNodeDown(name)) {
        if (absence === undefined) absent.set(name, { off, cancelFence: fenceAfter(name, world.timing.haFence) })
        else absence.off ||= off
      } else if (absence !== undefined) {
        absence.cancelFence()
        absent.delete(name)
        if (absence.off) bootNode(world, name)
        world.wakeManager()
      }
    }
  }
}

const holdsManaged = (world: World, node: string): boolean =>
  [...world.state.ha.values()].some(({ vmid, state }) => state !== "ignored" && world.state.guests.get(vmid)?.node === node)

const cutPower = (world: World, name: string): void => {
  world.trace.add(world.clock.now(), `power lost ${name}`)
  killTasksOf(world, name)
  for (const guest of world.state.guests.values()) if (guest.node === name && guest.status === "running") turnOff(world, guest)
}

const bootNode = (world: World, name: string): void => {
  const node = world.state.nodes.get(name)!
  node.bootedAt = world.clock.now()
  adoptSdn(world, node, true)
  bootHost(node)
  for (const guest of world.state.guests.values()) {
    if (guest.node !== name || guest.config["onboot"] !== 1 || guest.config["lock"] !== undefined) continue
    const request = { node: name, type: "qmstart", id: String(guest.vmid), author: { user: "root@pam", tokenid: undefined } }
    startTask(world, request, () => withConfig(world, guest.vmid, () => turnOnStopped(world, guest)))
  }
}
