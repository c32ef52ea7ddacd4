import { failure } from "../core/errors.ts"
import { hasQuorum } from "../core/quorum.ts"
import type { HaResource } from "../core/state.ts"
import { nowSeconds, type World } from "../core/world.ts"
import { haOf, isBroken, requestNode, requestState } from "../ha/resources.ts"
import { optionalText, text, type Call, type Routes } from "../http/call.ts"
import { splitList } from "../schema/formats.ts"

const sidOf = ({ vmid }: Pick<HaResource, "vmid">): string => `vm:${vmid}`

/** `vm:100`, or `100` alone. */
const vmidOf = (call: Call): number => {
  const sid = text(call, "sid")
  const vmid = Number(/^(?:vm:)?(\d+)$/.exec(sid)?.[1])
  if (Number.isNaN(vmid)) throw failure(`unable to parse service id '${sid}'`)
  return vmid
}

const resourceOf = (call: Call): HaResource => {
  const vmid = vmidOf(call)
  const resource = haOf(call.world, vmid)
  if (resource === undefined) throw failure(`no such resource 'vm:${vmid}'`)
  return resource
}

/** What may be configured of a resource besides its state. */
const optionNames = ["comment", "max_restart", "max_relocate", "failback", "auto-rebalance"]

const givenOptions = (call: Call): HaResource["options"] =>
  Object.fromEntries(
    optionNames.flatMap((name) => {
      const value = call.parameters[name]
      return typeof value === "string" || typeof value === "number" ? [[name, value]] : []
    }),
  )

/** `enabled` is an old word for `started`. */
const givenState = (call: Call): HaResource["state"] | undefined => {
  const state = optionalText(call, "state")
  return state === "enabled" ? "started" : (state as HaResource["state"] | undefined)
}

const shown = (resource: HaResource) => ({
  sid: sidOf(resource),
  type: "vm",
  state: resource.state,
  digest: "0".repeat(40),
  ...resource.options,
})

const create = (call: Call): null => {
  const { world } = call
  const vmid = vmidOf(call)
  if (!world.state.guests.has(vmid)) throw failure(`cannot find VM ${vmid} in cluster`)
  if (haOf(world, vmid) !== undefined) throw failure(`create resource failed: resource ID 'vm:${vmid}' already defined`)
  world.state.ha.set(vmid, {
    vmid,
    state: givenState(call) ?? "started",
    failures: 0,
    wanted: undefined,
    options: givenOptions(call),
  })
  world.wakeManager()
  return null
}

const update = (call: Call): null => {
  const resource = resourceOf(call)
  Object.assign(resource.options, givenOptions(call))
  for (const name of splitList(optionalText(call, "delete") ?? "")) delete resource.options[name]
  requestState(call.world, resource.vmid, givenState(call) ?? resource.state)
  return null
}

const remove = (call: Call): null => {
  call.world.state.ha.delete(resourceOf(call).vmid)
  return null
}

const send =
  (how: "migrate" | "relocate") =>
  (call: Call): unknown => {
    const resource = resourceOf(call)
    const node = text(call, "node")
    if (!call.world.state.nodes.has(node)) throw failure(`no such cluster node '${node}'`)
    requestNode(call.world, resource.vmid, node, how)
    return { sid: sidOf(resource), "requested-node": node }
  }

/** What the manager makes of a resource now, in its own words. */
const serviceState = (world: World, resource: HaResource): string => {
  const { vmid, state, wanted } = resource
  const guest = world.state.guests.get(vmid)
  if (state === "ignored") return "ignored"
  if (guest === undefined || isBroken(resource)) return "error"
  if (world.faults.isNodeDown(guest.node)) return hasQuorum(world) ? "fence" : "freeze"
  if (wanted !== undefined || guest.config["lock"] === "migrate") return wanted?.how ?? "migrate"
  if (state === "started") return guest.status === "running" ? "started" : "starting"
  return guest.status === "running" ? "request_stop" : "stopped"
}

const current = (call: Call): unknown[] => {
  const { world } = call
  const nodes = [...world.state.nodes.keys()]
  const [home = ""] = nodes
  const quorate = hasQuorum(world)
  const master = nodes.find((name) => !world.faults.isNodeDown(name)) ?? home
  const timestamp = nowSeconds(world)
  const services = [...world.state.ha.values()]
  const lrm = (name: string): string => {
    if (world.faults.isNodeDown(name)) return "old timestamp - dead?"
    return services.some(({ vmid }) => world.state.guests.get(vmid)?.node === name) ? "active" : "idle"
  }
  return [
    {
      id: "quorum",
      type: "quorum",
      node: home,
      status: quorate ? "OK" : `No quorum on node '${home}'!`,
      quorate: quorate ? 1 : 0,
    },
    ...(services.length === 0 ? [] : [{ id: "master", type: "master", node: master, status: `${master} (active)`, timestamp }]),
    ...(services.length === 0
      ? []
      : nodes.map((name) => ({ id: `lrm:${name}`, type: "lrm", node: name, status: `${name} (${lrm(name)})`, timestamp }))),
    ...services.map((resource) => {
      const sid = sidOf(resource)
      const node = world.state.guests.get(resource.vmid)?.node ?? "---"
      const state = serviceState(world, resource)
      return {
        id: `service:${sid}`,
        type: "service",
        sid,
        node,
        crm_state: state,
        state,
        status: `${sid} (${node}, ${state})`,
        request_state: resource.state,
        ...resource.options,
      }
    }),
  ]
}

const managerStatus = (call: Call): unknown => {
  const { world } = call
  const nodes = [...world.state.nodes.keys()]
  return {
    manager_status: {
      master_node: nodes.find((name) => !world.faults.isNodeDown(name)),
      node_status: Object.fromEntries(nodes.map((name) => [name, world.faults.isNodeDown(name) ? "unknown" : "online"])),
      service_status: Object.fromEntries(
        [...world.state.ha.values()].map((resource) => [
          sidOf(resource),
          { node: world.state.guests.get(resource.vmid)?.node, state: serviceState(world, resource) },
        ]),
      ),
      timestamp: nowSeconds(world),
    },
    quorum: { node: nodes[0], quorate: hasQuorum(world) ? 1 : 0 },
  }
}

/** High availability: its resources, and what its manager does. Groups and rules are none. */
export const haRoutes: Routes = {
  "GET /cluster/ha": () => ["status", "resources", "groups", "rules"].map((id) => ({ id })),
  "GET /cluster/ha/status": () => ["current", "manager_status"].map((name) => ({ name })),
  "GET /cluster/ha/status/current": current,
  "GET /cluster/ha/status/manager_status": managerStatus,
  "GET /cluster/ha/resources": (call) => [...call.world.state.ha.values()].map(shown),
  "POST /cluster/ha/resources": create,
  "GET /cluster/ha/resources/{sid}": (call) => shown(resourceOf(call)),
  "PUT /cluster/ha/resources/{sid}": update,
  "DELETE /cluster/ha/resources/{sid}": remove,
  "POST /cluster/ha/resources/{sid}/migrate": send("migrate"),
  "POST /cluster/ha/resources/{sid}/relocate": send("relocate"),
  "GET /cluster/ha/groups": () => [],
  "GET /cluster/ha/rules": () => [],
}
