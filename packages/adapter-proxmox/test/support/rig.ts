import { carriesMark, type MachineRef, macOf, type RangeId, type Vmid, writeDescription } from "@rangewright/domain"
import type { GuestAutomation, Hypervisor, HypervisorAccess, HypervisorNetwork, MachineAction, NodeShell } from "@rangewright/ports"
import { createManualClock, createSimulator, type Simulator, type SimulatorOptions } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { handlerTransport, type ProxmoxOptions, proxmoxLayer } from "../../src/index.ts"
import { checkedTransport } from "./schema-check.ts"
import { runOnSimTime } from "./sim-time.ts"

type Ports = Hypervisor | HypervisorNetwork | HypervisorAccess | GuestAutomation | NodeShell

/** A simulator on simulated time with the adapter over it; every request is held against Proxmox's schema. */
export interface Rig {
  readonly sim: Simulator
  readonly run: <A, E>(effect: Effect.Effect<A, E, Ports>) => Promise<A>
  /** A second process: the adapter with nothing remembered, over the same simulator. */
  readonly restart: () => Rig
  /** What the schema says against requests that were made. */
  readonly problems: readonly string[]
}

const splitToken = (token: string): { readonly id: string; readonly secret: string } => {
  const at = token.indexOf("=")
  return { id: token.slice(0, at), secret: token.slice(at + 1) }
}

export const makeRig = (simulator: SimulatorOptions = {}, options: Partial<ProxmoxOptions> = {}): Rig => {
  const clock = createManualClock()
  const sim = createSimulator({ ...simulator, clock })
  const problems: string[] = []
  const { id, secret } = splitToken(sim.rootToken)
  const rig = (): Rig => {
    const layer = proxmoxLayer({
      urls: [],
      auth: { type: "token", id, secret: Redacted.make(secret) },
      transport: checkedTransport(handlerTransport(sim.handle), problems),
      ...options,
    })
    return { sim, problems, run: (effect) => runOnSimTime(clock, Effect.provide(effect, layer)), restart: rig }
  }
  return rig()
}

export const rangeId = "LAB1" as RangeId
export const vmidOf = (n: number): Vmid => n as Vmid

export const refOf = (vmid: number, machine = `LAB1-vm${vmid}`, node = "pve"): MachineRef => ({
  vmid: vmidOf(vmid),
  node,
  mark: { range: rangeId, machine },
})

type ActionOf<K extends MachineAction["kind"]> = Extract<MachineAction, { readonly kind: K }>

/** A linked clone of the simulator's first template. */
export const cloneOf = (sim: Simulator, ref: MachineRef, change: Partial<ActionOf<"clone">> = {}): ActionOf<"clone"> => {
  const template = [...sim.state.guests.values()].find((guest) => guest.template && guest.os.family === "linux" && guest.node === ref.node)
  if (template === undefined) throw new Error(`the simulator has no Linux template on ${ref.node}`)
  return {
    kind: "clone",
    machine: ref,
    name: ref.mark.machine,
    template: { vmid: vmidOf(template.vmid), node: template.node, name: "template" },
    pool: rangeId,
    full: false,
    storage: undefined,
    description: writeDescription(ref.mark, ["linux"]),
    ...change,
  }
}

export const configureOf = (ref: MachineRef): ActionOf<"configure"> => ({
  kind: "configure",
  machine: ref,
  settings: {
    cpus: 2,
    memoryMiB: 4096,
    balloonMiB: 0,
    nics: [{ index: 0, model: "virtio", mac: macOf(ref.vmid, 0), bridge: "vmbr1000", tag: 10, firewall: false }],
    description: writeDescription(ref.mark, ["linux", "server"]),
    tags: ["rangewright"],
    tablet: false,
  },
})

/** VMs of the simulator that carry the reference's mark. */
export const marked = (sim: Simulator, ref: MachineRef): readonly number[] =>
  [...sim.state.guests.values()]
    .filter((guest) => carriesMark(String(guest.config["description"] ?? ""), ref.mark))
    .map((guest) => guest.vmid)
