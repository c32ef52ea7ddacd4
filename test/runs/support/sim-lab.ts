import { handlerTransport, proxmoxLayer } from "@rangewright/adapter-proxmox"
import { createSimulator, type SimClock, type Simulator } from "@rangewright/pve-simulator"
import * as Clock from "effect/Clock"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type Lab, makeCompany } from "./lab.ts"

export interface SimLab extends Lab {
  readonly sim: Simulator
}

type Handle = Simulator["handle"]

/**
 * The company of `makeCompany` on the simulator, over the Proxmox adapter, all on one virtual clock. Several nodes make a cluster. `between`
 * stands between the service and the simulator.
 */
export const makeSimCompany = (nodes = 1, between: (handle: Handle) => Handle = (handle) => handle): SimLab => {
  const lab = makeCompany()
  const clock: SimClock = { now: lab.clock.now, schedule: lab.clock.schedule }
  const sim = createSimulator({ clock, nodes })
  const [id = "", secret = ""] = sim.rootToken.split("=")
  const hypervisor = proxmoxLayer({
    urls: [],
    auth: { type: "token", id, secret: Redacted.make(secret) },
    transport: handlerTransport(between(sim.handle)),
    // its own fibers (the watcher of tasks) run in the same time
  }).pipe(Layer.provide(Layer.succeed(Clock.Clock, lab.clock)))
  return { ...lab, sim, hypervisor, settings: { ...lab.settings, clusterMode: nodes > 1 } }
}

const call = async ({ sim }: SimLab, method: string, path: string, body: string): Promise<void> => {
  const headers = { authorization: `PVEAPIToken=${sim.rootToken}`, "content-type": "application/x-www-form-urlencoded" }
  const answer = await sim.handle({ method, path: `/api2/json${path}`, headers, body })
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
}

/** Turns a machine off as an operator does in Proxmox, by the name it has there. */
export const cutPower = async (lab: SimLab, machine: string): Promise<void> => {
  const guest = [...lab.sim.state.guests.values()].find(({ config }) => config["name"] === machine)
  if (guest?.status !== "running") throw new Error(`${machine} does not run`)
  await call(lab, "POST", `/nodes/${guest.node}/qemu/${guest.vmid}/status/stop`, "")
}

/** Makes every node reload its networks, which takes some seconds. */
export const applyNetworks = (lab: SimLab): Promise<void> => call(lab, "PUT", "/cluster/sdn", "")

/** Lets time pass until no task runs any more. */
const untilIdle = async ({ sim, clock }: SimLab): Promise<void> => {
  while ([...sim.state.tasks.values()].some(({ exitstatus }) => exitstatus === undefined))
    await new Promise<void>((resolve) => void clock.schedule(500, resolve))
}

/** Creates the zone that a cluster's networks need, as an operator does, and waits until it is in force. */
export const addZone = async (lab: SimLab): Promise<void> => {
  const peers = [...lab.sim.state.nodes.values()].map(({ address }) => address).join(",")
  const zone = `zone=${lab.settings.sdnZone}&type=vxlan&peers=${encodeURIComponent(peers)}`
  await call(lab, "POST", "/cluster/sdn/zones", zone)
  await applyNetworks(lab)
  await untilIdle(lab)
}

/** The simulator's VMs except templates: what a run left behind, without identifiers that differ between runs. */
export const simEnd = ({ sim, store }: SimLab) => ({
  vms: [...sim.state.guests.values()]
    .filter(({ config }) => config["template"] !== 1)
    .map(({ vmid, config, status }) => ({
      vmid,
      name: config["name"],
      power: status,
      description: config["description"],
      lock: config["lock"],
    }))
    .toSorted((a, b) => a.vmid - b.vmid),
  networks: [...sim.state.nodes.values()].flatMap(({ name, interfaces, vnets }) =>
    [...interfaces.keys(), ...vnets].map((net) => `${name} ${net}`),
  ),
  vnets: [...sim.state.sdn.config.vnets.keys()],
  rights: [...sim.state.access.acl.keys()].toSorted(),
  pools: [...sim.state.pools.keys()].toSorted(),
  states: [...store.ranges.values()].map(({ id, state }) => [id, state]),
})
