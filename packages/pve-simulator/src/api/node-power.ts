import { sleep, start, type Routine } from "../core/routine.ts"
import type { Guest } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { nodeOf, optionalText, spawn, text, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { withConfig } from "./guest-locks.ts"
import { powerOn, shutDown } from "./guest-power.ts"

/** `startall` and `stopall` of a node: one guest after another, in their configured order. */
const allOf =
  (type: "startall" | "stopall", wanted: (guest: Guest) => boolean, act: (world: World, guest: Guest) => Routine<void>) =>
  (call: Call): string => {
    const { world } = call
    const vms = optionalText(call, "vms")
    const chosen = vms === undefined ? undefined : new Set(splitList(vms).map(Number))
    return spawn(call, type, "", function* (): Routine<void> {
      for (const guest of world.state.guests.values()) {
        if (
          guest.node === nodeOf(call).name &&
          (chosen?.has(guest.vmid) ?? wanted(guest)) &&
          may(world, call.identity, `/vms/${guest.vmid}`, ["VM.PowerMgmt"])
        ) {
          yield* withConfig(world, guest.vmid, () => act(world, guest))
        }
      }
    })
  }

function* startOne(world: World, guest: Guest): Routine<void> {
  if (guest.status === "running" || guest.config["template"] === 1) return
  yield* sleep(world.clock, world.timing.startTask)
  powerOn(world, guest)
}

function* stopOne(world: World, guest: Guest): Routine<void> {
  if (guest.status === "running") yield* shutDown(world, guest, world.timing.shutdownTimeout, true)
}

/** Stops the node's guests, then the node, and boots it again for a reboot. The answer does not wait for this. */
const nodeCommand = (call: Call): null => {
  const { world } = call
  const { name } = nodeOf(call)
  const { state } = world
  start(
    (function* (): Routine<void> {
      for (const guest of state.guests.values())
        if (guest.node === name) yield* withConfig(world, guest.vmid, () => stopOne(world, guest))
      yield* sleep(world.clock, world.timing.nodeHalt)
      // a state that was restored meanwhile is not affected
      if (world.state !== state) return
      const fault = world.faults.add({ kind: "node-off", node: name })
      if (text(call, "command") !== "reboot") return
      yield* sleep(world.clock, world.timing.nodeBoot)
      world.faults.remove(fault)
    })(),
    () => undefined,
    () => undefined,
  )
  return null
}

/** Power of a node and of all its VMs. */
export const nodePowerRoutes: Routes = {
  "POST /nodes/{node}/status": nodeCommand,
  "POST /nodes/{node}/startall": allOf("startall", (guest) => guest.config["onboot"] === 1, startOne),
  "POST /nodes/{node}/stopall": allOf("stopall", (guest) => guest.status === "running", stopOne),
}
