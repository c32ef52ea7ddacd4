import { handlerTransport, type ProxmoxOptions, proxmoxLayer } from "@rangewright/adapter-proxmox"
import { createManualClock, createSimulator, type Simulator, type SimulatorOptions } from "@rangewright/pve-simulator"
import * as Redacted from "effect/Redacted"
import { expect } from "vitest"
import { checkedTransport } from "./schema-check.ts"
import { runOnSimTime } from "./sim-time.ts"
import { vmidOf, type World } from "./under-test.ts"

/** The adapter over a simulator in this process, on simulated time. Every request is held against Proxmox's schema. */
export interface Rig extends World {
  readonly sim: Simulator
  readonly restarted: () => Rig
  /** Ends the rig; fails when the schema has something against a request that was made. */
  readonly close: () => Promise<void>
}

export const tokenAuth = (token: string): Extract<ProxmoxOptions["auth"], { readonly type: "token" }> => {
  const at = token.indexOf("=")
  return { type: "token", id: token.slice(0, at), secret: Redacted.make(token.slice(at + 1)) }
}

/** Calls the simulator as its root, past the adapter; the answer's text. */
export const asRoot = async (sim: Simulator, method: string, path: string, form = ""): Promise<string> => {
  const answer = await sim.handle({
    method,
    path: `/api2/json${path}`,
    headers: { authorization: `PVEAPIToken=${sim.rootToken}`, "content-type": "application/x-www-form-urlencoded" },
    ...(form === "" ? {} : { body: form }),
  })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
  return answer.body
}

export const makeRig = (simulator: SimulatorOptions = {}, options: Partial<ProxmoxOptions> = {}): Rig => {
  const clock = createManualClock()
  const sim = createSimulator({ ...simulator, clock })
  const template = [...sim.state.guests.values()].find((guest) => guest.config["template"] === 1 && guest.os?.family === "linux")
  if (template === undefined) throw new Error("the simulator has no Linux template")
  const problems: string[] = []
  const rig = (): Rig => {
    const layer = proxmoxLayer({
      urls: [],
      auth: tokenAuth(sim.rootToken),
      transport: checkedTransport(handlerTransport(sim.handle), problems),
      ...options,
    })
    return {
      sim,
      run: (effect) => runOnSimTime(clock, effect, layer),
      restarted: rig,
      node: template.node,
      template: { vmid: vmidOf(template.vmid), node: template.node, name: String(template.config["name"]) },
      stranger: async (vmid) => {
        await asRoot(sim, "POST", `/nodes/${template.node}/qemu`, `vmid=${vmid}&name=stranger`)
        clock.advance(60_000)
      },
      exists: (vmid) => sim.guest(vmid) !== undefined,
      close: async () => {
        expect(problems).toEqual([])
      },
    }
  }
  return rig()
}
