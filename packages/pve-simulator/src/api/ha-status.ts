import { hasQuorum } from "../core/quorum.ts"
import type { HaResource } from "../core/state.ts"
import { nowSeconds, type World } from "../core/world.ts"
import { isBroken } from "../ha/resources.ts"
import { sidOf } from "../ha/rules.ts"
import type { Call, Routes } from "../http/call.ts"

/** The present state of a resource, in the local manager's terms. */
export const serviceState = (world: World, resource: HaResource): string => {
  const { vmid, state, wanted } = resource
  const guest = world.state.guests.get(vmid)
  if (state === "ignored") return "ignored"
  if (guest === undefined || isBroken(resource)) return "error"
  if (world.faults.isNodeDown(guest.node)) return hasQuorum(world) ? "fence" : "freeze"
  if (wanted !== undefined || guest.config["lock"] === "migrate") return wanted?.how ?? "migrate"
  if (state === "started") return guest.status === "running" ? "started" : "starting"
  return guest.status === "running" ? "request_stop" : "stopped"
}

/** The same in the cluster manager's terms, which have no state for a start in progress. */
export const crmState = (world: World, resource: HaResource): string => {
  const state = serviceState(world, resource)
  return state === "starting" ? "started" : state
}

/** The manager's state of a node; undefined while it manages nothing. */
export const nodeHaState = (world: World, node: string): string | undefined => {
  if (world.state.ha.size === 0) return undefined
  if (!world.faults.isNodeDown(node)) return "online"
  const holds = [...world.state.ha.values()].some(({ vmid }) => world.state.guests.get(vmid)?.node === node)
  return holds && hasQuorum(world) ? "fence" : "unknown"
}

/** `Thu Jul 23 12:36:06 2026` */
const dateText = (seconds: number): string => {
  const [day = "", date = "", month = "", year = "", time = ""] = new Date(seconds * 1000).toUTCString().split(" ")
  return `${day.replace(",", "")} ${month} ${date.replace(/^0/, " ")} ${time} ${year}`
}

const masterOf = (world: World): string => {
  const nodes = [...world.state.nodes.keys()]
  return nodes.find((name) => !world.faults.isNodeDown(name)) ?? nodes[0] ?? ""
}

const nodeRows = (world: World, services: readonly HaResource[]): unknown[] => {
  const timestamp = nowSeconds(world)
  const date = dateText(timestamp)
  const lrm = (name: string): string => {
    if (world.faults.isNodeDown(name)) return "old timestamp - dead?"
    const isActive = services.some(({ vmid }) => world.state.guests.get(vmid)?.node === name)
    return isActive ? "active, watchdog active" : "idle, watchdog standby"
  }
  const master = masterOf(world)
  return [
    { id: "master", type: "master", node: master, status: `${master} (active, ${date})`, timestamp },
    { id: "fencing", type: "fencing", node: master, status: "armed (CRM watchdog active)", "armed-state": "armed" },
    ...[...world.state.nodes.keys()].map((name) => ({
      id: `lrm:${name}`,
      type: "lrm",
      node: name,
      status: `${name} (${lrm(name)}, ${date})`,
      timestamp,
    })),
  ]
}

/** Defaults of options that were not configured. */
const optionDefaults = { max_restart: 1, max_relocate: 1, failback: 1, "auto-rebalance": 1 }

const serviceRow = (world: World, resource: HaResource): unknown => {
  const sid = sidOf(resource.vmid)
  const node = world.state.guests.get(resource.vmid)?.node ?? "---"
  const state = serviceState(world, resource)
  return {
    id: `service:${sid}`,
    type: "service",
    sid,
    node,
    crm_state: crmState(world, resource),
    state,
    status: `${sid} (${node}, ${state})`,
    request_state: resource.state,
    ...optionDefaults,
    ...resource.options,
  }
}

const current = (call: Call): unknown[] => {
  const { world } = call
  const [home = ""] = world.state.nodes.keys()
  const quorate = hasQuorum(world)
  const services = [...world.state.ha.values()]
  const status = quorate ? "OK" : `No quorum on node '${home}'!`
  const standby = {
    id: "fencing",
    type: "fencing",
    node: home,
    status: "standby (CRM watchdog standby)",
    "armed-state": "standby",
  }
  return [
    { id: "quorum", type: "quorum", node: home, status, quorate: quorate ? 1 : 0 },
    ...(services.length === 0 ? [standby] : nodeRows(world, services)),
    ...services.map((resource) => serviceRow(world, resource)),
  ]
}

const managerStatus = (call: Call): unknown => {
  const { world } = call
  const nodes = [...world.state.nodes.keys()]
  return {
    manager_status: {
      master_node: masterOf(world),
      node_status: Object.fromEntries(nodes.flatMap((name) => [[name, nodeHaState(world, name)]])),
      service_status: Object.fromEntries(
        [...world.state.ha.values()].map((resource) => [
          sidOf(resource.vmid),
          { node: world.state.guests.get(resource.vmid)?.node, state: serviceState(world, resource) },
        ]),
      ),
      timestamp: nowSeconds(world),
    },
    quorum: { node: nodes[0], quorate: hasQuorum(world) ? 1 : 0 },
  }
}

/** The status of high availability. */
export const haStatusRoutes: Routes = {
  "GET /cluster/ha/status": () => ["current", "manager_status"].map((name) => ({ name })),
  "GET /cluster/ha/status/current": current,
  "GET /cluster/ha/status/manager_status": managerStatus,
}
