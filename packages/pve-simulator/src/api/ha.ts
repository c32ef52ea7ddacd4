import { failure } from "../core/errors.ts"
import type { HaResource } from "../core/state.ts"
import { haOf, removeResource, requestNode, requestState } from "../ha/resources.ts"
import { sidOf } from "../ha/rules.ts"
import { optionalText, text, type Call, type Routes } from "../http/call.ts"
import { splitList } from "../schema/formats.ts"

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

/** Options of a resource besides its state. */
const optionNames = ["comment", "max_restart", "max_relocate", "failback", "auto-rebalance"]

const refuseGroup = (call: Call): void => {
  if (call.parameters["group"] !== undefined) throw failure("invalid parameter 'group': ha groups have been migrated to rules")
}

const givenOptions = (call: Call): HaResource["options"] =>
  Object.fromEntries(
    optionNames.flatMap((name) => {
      const value = call.parameters[name]
      return typeof value === "string" || typeof value === "number" ? [[name, value]] : []
    }),
  )

/** `enabled` is the old name of `started`. */
const givenState = (call: Call): HaResource["state"] | undefined => {
  const state = optionalText(call, "state")
  return state === "enabled" ? "started" : (state as HaResource["state"] | undefined)
}

const shown = (resource: HaResource) => ({
  sid: sidOf(resource.vmid),
  type: "vm",
  state: resource.state,
  digest: "0".repeat(40),
  ...resource.options,
})

const create = (call: Call): null => {
  const { world } = call
  refuseGroup(call)
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
  refuseGroup(call)
  Object.assign(resource.options, givenOptions(call))
  for (const name of splitList(optionalText(call, "delete") ?? "")) delete resource.options[name]
  requestState(call.world, resource.vmid, givenState(call) ?? resource.state)
  return null
}

const remove = (call: Call): null => {
  removeResource(call.world, resourceOf(call).vmid)
  return null
}

const send =
  (how: "migrate" | "relocate") =>
  (call: Call): unknown => {
    const { vmid } = resourceOf(call)
    const node = text(call, "node")
    if (!call.world.state.nodes.has(node)) throw failure(`no such cluster node '${node}'`)
    const { blockers, companions } = requestNode(call.world, vmid, node, how)
    return {
      sid: sidOf(vmid),
      "requested-node": node,
      ...(blockers.length === 0 ? {} : { "blocking-resources": blockers }),
      ...(companions.length === 0 ? {} : { "comigrated-resources": companions.map(sidOf) }),
    }
  }

/** High availability: its resources. */
export const haRoutes: Routes = {
  "GET /cluster/ha": () => ["status", "resources", "groups", "rules"].map((id) => ({ id })),
  "GET /cluster/ha/resources": (call) => [...call.world.state.ha.values()].map(shown),
  "POST /cluster/ha/resources": create,
  "GET /cluster/ha/resources/{sid}": (call) => shown(resourceOf(call)),
  "PUT /cluster/ha/resources/{sid}": update,
  "DELETE /cluster/ha/resources/{sid}": remove,
  "POST /cluster/ha/resources/{sid}/migrate": send("migrate"),
  "POST /cluster/ha/resources/{sid}/relocate": send("relocate"),
}
