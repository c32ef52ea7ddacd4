import { lockOf, memoryMb, reportedOf } from "../core/guest-config.ts"
import type { Guest, NodeState, StorageState } from "../core/state.ts"
import { isOnNode, usedBytes } from "../core/volumes.ts"
import type { World } from "../core/world.ts"
import { haOf } from "../ha/resources.ts"
import { optionalText, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"
import { crmState, nodeHaState } from "./ha-status.ts"
import { zoneStates } from "./sdn-nodes.ts"

/** A guest in the cluster's list: data from the status daemon and from its configuration. */
const resourceOf = (world: World, guest: Guest): Record<string, unknown> => {
  const lock = lockOf(guest.config)
  const resource = haOf(world, guest.vmid)
  return {
    ...memberOf(world, guest),
    ...(guest.config["tags"] === undefined ? {} : { tags: guest.config["tags"] }),
    ...(lock === undefined ? {} : { lock }),
    ...(resource === undefined ? {} : { hastate: crmState(world, resource) }),
  }
}

/** A guest in the list of its pool's members: data from the status daemon. */
export const memberOf = (world: World, guest: Guest): Record<string, unknown> => {
  const reported = reportedOf(world, guest)
  const fixed = { id: `qemu/${guest.vmid}`, type: "qemu", vmid: guest.vmid, node: guest.node }
  if (reported === undefined || world.faults.isNodeDown(guest.node))
    return { ...fixed, status: "unknown", ...(reported === undefined ? {} : { name: reported.name }) }
  const running = reported.status === "running"
  const mem = running ? Math.floor(reported.maxmem * 0.6) : 0
  return {
    ...fixed,
    name: reported.name,
    status: reported.status,
    template: reported.template,
    cpu: running ? 0.03 : 0,
    maxcpu: reported.maxcpu,
    maxmem: reported.maxmem,
    mem,
    memhost: mem,
    maxdisk: reported.maxdisk,
    disk: 0,
    diskread: 0,
    diskwrite: 0,
    netin: 0,
    netout: 0,
    uptime:
      running && reported.startedAt !== undefined ? Math.max(1, Math.floor((world.clock.now() - reported.startedAt) / 1000)) : 0,
  }
}

/** A storage as one node sees it. */
export const storageResource = (world: World, storage: StorageState, node: string): Record<string, unknown> => {
  const known = !world.faults.isNodeDown(node)
  const full = storage.full || world.faults.isStorageFull(storage.id)
  return {
    id: `storage/${node}/${storage.id}`,
    type: "storage",
    storage: storage.id,
    node,
    plugintype: storage.type,
    content: storage.content.join(","),
    shared: storage.shared ? 1 : 0,
    status: known && !storage.disabled ? "available" : "unknown",
    ...(known ? { maxdisk: storage.capacityBytes, disk: full ? storage.capacityBytes : usedBytes(storage, node) } : {}),
  }
}

/** Load of a node: the used fraction of its processors, and bytes of memory. */
export interface Load {
  readonly cpu: number
  readonly mem: number
}

/** The load from the running guests of each node. */
export const nodeLoads = (world: World): ReadonlyMap<string, Load> => {
  const loads = new Map([...world.state.nodes.keys()].map((name) => [name, { cores: 0, mem: 2 * 1024 ** 3 }]))
  for (const guest of world.state.guests.values()) {
    const load = loads.get(guest.node)
    if (load === undefined || guest.status !== "running") continue
    load.cores += 0.03
    load.mem += Math.floor(memoryMb(guest.config) * 1024 ** 2 * 0.6)
  }
  const bounded = ({ cores, mem }: { cores: number; mem: number }, node: NodeState): Load => ({
    cpu: Math.min(1, cores / node.cores),
    mem: Math.min(node.memoryBytes, mem),
  })
  return new Map([...world.state.nodes.values()].map((node) => [node.name, bounded(loads.get(node.name)!, node)]))
}

const nodeResource = (world: World, node: NodeState, load: Load): Record<string, unknown> => {
  const hastate = nodeHaState(world, node.name)
  const fixed = {
    id: `node/${node.name}`,
    type: "node",
    node: node.name,
    level: "",
    ...(hastate === undefined ? {} : { hastate }),
  }
  if (world.faults.isNodeDown(node.name)) return { ...fixed, status: "offline" }
  return {
    ...fixed,
    status: "online",
    cpu: load.cpu,
    maxcpu: node.cores,
    mem: load.mem,
    maxmem: node.memoryBytes,
    disk: 8 * 1024 ** 3,
    maxdisk: 100 * 1024 ** 3,
    uptime: Math.max(1, Math.floor((world.clock.now() - node.bootedAt) / 1000)),
    "cgroup-mode": 2,
  }
}

const sdnResources = (world: World): Record<string, unknown>[] =>
  [...world.state.nodes.values()].flatMap((node) => [
    {
      id: `network/${node.name}/zone/localnetwork`,
      type: "network",
      network: "localnetwork",
      "network-type": "zone",
      node: node.name,
      status: "ok",
    },
    // a node that is down reports nothing
    ...(world.faults.isNodeDown(node.name) ? [] : [...zoneStates(world, node)]).map(([zone, status]) => ({
      id: `sdn/${node.name}/${zone}`,
      type: "sdn",
      sdn: zone,
      "zone-type": String(world.state.sdn.running.zones.get(zone)?.["type"]),
      node: node.name,
      status: status === "available" ? "ok" : status,
    })),
  ])

const resources = (call: Call): unknown[] => {
  const { world, identity } = call
  const type = optionalText(call, "type")
  const out: unknown[] = []
  if (type === undefined || type === "vm") {
    const poolOf = new Map<number, string>()
    for (const pool of world.state.pools.values()) {
      for (const vmid of pool.vms) poolOf.set(vmid, pool.poolid)
      if (type === undefined && may(world, identity, `/pool/${pool.poolid}`, ["Pool.Audit"]))
        out.push({ id: `/pool/${pool.poolid}`, type: "pool", pool: pool.poolid })
    }
    for (const guest of world.state.guests.values()) {
      if (!may(world, identity, `/vms/${guest.vmid}`, ["VM.Audit"])) continue
      const entry = resourceOf(world, guest)
      const pool = poolOf.get(guest.vmid)
      if (pool !== undefined) entry["pool"] = pool
      out.push(entry)
    }
  }
  if (type === undefined || type === "node") {
    const loads = nodeLoads(world)
    for (const node of world.state.nodes.values()) {
      const full = may(world, identity, `/nodes/${node.name}`, ["Sys.Audit"])
      out.push(
        full
          ? nodeResource(world, node, loads.get(node.name)!)
          : {
              id: `node/${node.name}`,
              type: "node",
              node: node.name,
              status: world.faults.isNodeDown(node.name) ? "offline" : "online",
            },
      )
    }
  }
  if (type === undefined || type === "storage") {
    for (const storage of world.state.storages.values()) {
      if (!may(world, identity, `/storage/${storage.id}`, ["Datastore.Audit", "Datastore.AllocateSpace"], true)) continue
      for (const node of world.state.nodes.keys()) if (isOnNode(storage, node)) out.push(storageResource(world, storage, node))
    }
  }
  if (type === undefined || type === "sdn") {
    for (const entry of sdnResources(world)) {
      const zone = String(entry["sdn"] ?? entry["network"])
      if (
        may(world, identity, `/sdn/zones/${zone}`, ["SDN.Audit", "SDN.Use"], true) &&
        (type === undefined || entry["type"] === "sdn")
      )
        out.push(entry)
    }
  }
  return out
}

/** The list of everything in the cluster. */
export const resourceRoutes: Routes = { "GET /cluster/resources": resources }
