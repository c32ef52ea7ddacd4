import { handlerTransport, type ProxmoxOptions, proxmoxLayer } from "@rangewright/adapter-proxmox"
import {
  createManualClock,
  createSimulator,
  type ManualClock,
  type Simulator,
  type SimulatorOptions,
} from "@rangewright/pve-simulator"
import type { HypervisorTemplates } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { expect } from "vitest"
import { asRoot } from "./as-root.ts"
import { othersOf } from "./others.ts"
import { checkedTransport } from "./schema-check.ts"
import { runOnSimTime } from "./sim-time.ts"
import { type HypervisorPorts, vmidOf, type World } from "./under-test.ts"

/** The adapter over a simulator in this process, in simulated time. Every request is checked against Proxmox's schema. */
export interface Rig extends World {
  readonly run: <A, E>(effect: Effect.Effect<A, E, HypervisorPorts | HypervisorTemplates>) => Promise<A>
  readonly sim: Simulator
  readonly restarted: () => Rig
  /** The adapter with other options over the same simulator. */
  readonly as: (options: Partial<ProxmoxOptions>) => Rig
  /** Advances the simulator's time to the next event. */
  readonly passTime: () => Promise<void>
  /** Ends the rig; fails if a request violated the schema. */
  readonly close: () => Promise<void>
}

export const tokenAuth = (token: string): Extract<ProxmoxOptions["auth"], { readonly type: "token" }> => {
  const at = token.indexOf("=")
  return { type: "token", id: token.slice(0, at), secret: Redacted.make(token.slice(at + 1)) }
}

export { asRoot }

/** The first Linux template of the simulator. */
export const linuxTemplate = (sim: Simulator): World["template"] => {
  const found = [...sim.state.guests.values()].find((guest) => guest.config["template"] === 1 && guest.os?.family === "linux")
  if (found === undefined) throw new Error("the simulator has no Linux template")
  return { vmid: vmidOf(found.vmid), node: found.node, name: String(found.config["name"]) }
}

/** The part of a world that does not depend on how its clock runs. */
export const worldOf = (sim: Simulator): Omit<World, "run" | "restarted" | "close"> => {
  const template = linuxTemplate(sim)
  return {
    node: template.node,
    template,
    stranger: async (vmid) => {
      await asRoot(sim, "POST", `/nodes/${template.node}/qemu`, `vmid=${vmid}&name=stranger`)
      // creating it is a task, which ends with the simulator's time
      while (sim.guest(vmid) === undefined || sim.guest(vmid)?.config["lock"] !== undefined) await passTime(sim)
    },
    remove: async (vmid) => void sim.state.guests.delete(vmid),
    exists: (vmid) => sim.guest(vmid) !== undefined,
    others: othersOf(sim),
  }
}

const passTime = async (sim: Simulator): Promise<void> => {
  if ("advanceToNext" in sim.clock) (sim.clock as ManualClock).advanceToNext()
  await new Promise((resolve) => setImmediate(resolve))
}

export const makeRig = (simulator: SimulatorOptions = {}, options: Partial<ProxmoxOptions> = {}): Rig => {
  const clock = createManualClock()
  const sim = createSimulator({ ...simulator, clock })
  const problems: string[] = []
  const rig = (own: Partial<ProxmoxOptions>): Rig => {
    const layer = proxmoxLayer({
      urls: [],
      auth: tokenAuth(sim.rootToken),
      transport: checkedTransport(handlerTransport(sim.handle), problems),
      ...own,
    })
    return {
      ...worldOf(sim),
      others: othersOf(sim, (ask) => runOnSimTime(clock, Effect.promise(ask), layer)),
      sim,
      run: (effect) => runOnSimTime(clock, effect, layer),
      restarted: () => rig(own),
      as: rig,
      passTime: () => passTime(sim),
      close: async () => {
        expect(problems).toEqual([])
      },
    }
  }
  return rig(options)
}
