import { failure, wrapped } from "../core/errors.ts"
import type { Pool } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { flag, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { memberOf, storageResource } from "./resources.ts"

const poolNamed = (world: World, id: string): Pool => {
  const pool = world.state.pools.get(id)
  if (pool === undefined) throw failure(`pool '${id}' does not exist`)
  return pool
}

const changed = (world: World): void => {
  world.state.access.version += 1
}

const members = (call: Call, pool: Pool, type: string | undefined): unknown[] => {
  const out: unknown[] = []
  for (const vmid of pool.vms) {
    const guest = call.world.state.guests.get(vmid)
    if (guest !== undefined && (type ?? "qemu") === "qemu") out.push(memberOf(call.world, guest))
  }
  if ((type ?? "storage") !== "storage") return out
  for (const id of pool.storages) {
    const storage = call.world.state.storages.get(id)
    if (storage === undefined) continue
    for (const node of call.world.state.nodes.values()) {
      if (storage.nodes.length === 0 || storage.nodes.includes(node.name))
        out.push(storageResource(call.world, storage, node.name))
    }
  }
  return out
}

const shown = (pool: Pool) => ({ poolid: pool.poolid, ...(pool.comment === undefined ? {} : { comment: pool.comment }) })

const list = (call: Call): unknown[] => {
  const { world, identity } = call
  const id = optionalText(call, "poolid")
  if (id !== undefined) {
    demand(world, identity, `/pool/${id}`, ["Pool.Audit"])
    const pool = poolNamed(world, id)
    return [{ ...shown(pool), members: members(call, pool, optionalText(call, "type")) }]
  }
  return [...world.state.pools.values()].filter((pool) => may(world, identity, `/pool/${pool.poolid}`, ["Pool.Audit"])).map(shown)
}

const get = (call: Call) => {
  const pool = poolNamed(call.world, text(call, "poolid"))
  return {
    ...(pool.comment === undefined ? {} : { comment: pool.comment }),
    members: members(call, pool, optionalText(call, "type")),
  }
}

const create = (call: Call): null => {
  const { world } = call
  const id = text(call, "poolid")
  const fail = (message: string) => failure(`create pool failed: ${message}`)
  if (world.state.pools.has(id)) throw fail(`pool '${id}' already exists`)
  if (id.split("/").some((part) => !/^[a-zA-Z]/.test(part))) throw fail("pool name must start with a letter")
  const parent = id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : undefined
  if (parent !== undefined && !world.state.pools.has(parent)) throw fail(`parent '${parent}' of pool '${id}' does not exist`)
  world.state.pools.set(id, { poolid: id, comment: optionalText(call, "comment"), vms: new Set(), storages: new Set() })
  changed(world)
  return null
}

const update = (call: Call): null => {
  const { world } = call
  const comment = optionalText(call, "comment")
  try {
    const pool = poolNamed(world, text(call, "poolid"))
    const vms = splitList(optionalText(call, "vms") ?? "").map(Number)
    const storages = splitList(optionalText(call, "storage") ?? "")
    for (const vmid of vms) checkVm(call, pool, vmid)
    for (const id of storages) checkStorage(call, pool, id)
    for (const vmid of vms) moveVm(call, pool, vmid)
    for (const id of storages) {
      if (flag(call, "delete")) pool.storages.delete(id)
      else pool.storages.add(id)
    }
    if (comment !== undefined) pool.comment = comment
  } catch (error) {
    throw wrapped("update pools failed", error)
  } finally {
    changed(world)
  }
  return null
}

const holderOf = (world: World, vmid: number): Pool | undefined =>
  [...world.state.pools.values()].find((pool) => pool.vms.has(vmid))

const checkVm = (call: Call, pool: Pool, vmid: number): void => {
  const { world, identity } = call
  const mayMove =
    may(world, identity, `/vms/${vmid}`, ["Permissions.Modify"]) || may(world, identity, `/vms/${vmid}`, ["VM.Allocate"])
  if (!mayMove) demand(world, identity, `/vms/${vmid}`, ["Permissions.Modify"])
  if (flag(call, "delete")) {
    if (!pool.vms.has(vmid)) throw failure(`VM ${vmid} is not a pool member`)
    return
  }
  if (pool.vms.has(vmid)) throw failure(`VM ${vmid} is already a pool member`)
  const other = holderOf(world, vmid)
  if (other !== undefined && !flag(call, "allow-move")) {
    throw failure(`VM ${vmid} belongs already to pool '${other.poolid}' and 'allow-move' is not set`)
  }
}

const checkStorage = (call: Call, pool: Pool, id: string): void => {
  demand(call.world, call.identity, `/storage/${id}`, ["Datastore.Allocate"])
  const member = pool.storages.has(id)
  if (flag(call, "delete") && !member) throw failure(`Storage '${id}' is not a pool member`)
  if (!flag(call, "delete") && member) throw failure(`Storage '${id}' is already a pool member`)
}

const moveVm = (call: Call, pool: Pool, vmid: number): void => {
  holderOf(call.world, vmid)?.vms.delete(vmid)
  if (!flag(call, "delete")) pool.vms.add(vmid)
}

const remove = (call: Call): null => {
  const { world } = call
  const id = text(call, "poolid")
  try {
    const pool = poolNamed(world, id)
    const [vmid] = pool.vms
    if (vmid !== undefined) throw failure(`pool '${id}' is not empty (contains VM ${vmid})`)
    const [storage] = pool.storages
    if (storage !== undefined) throw failure(`pool '${id}' is not empty (contains storage ${storage})`)
    const child = [...world.state.pools.keys()].find((other) => other.startsWith(`${id}/`))
    if (child !== undefined) throw failure(`pool '${id}' is not empty (contains pool '${child}')`)
  } catch (error) {
    throw wrapped("delete pool failed", error)
  }
  world.state.pools.delete(id)
  world.state.access.acl.delete(`/pool/${id}`)
  changed(world)
  return null
}

/** Pools: the API for nested ids, and the older one. */
export const poolRoutes: Routes = {
  "GET /pools": list,
  "POST /pools": create,
  "PUT /pools": update,
  "DELETE /pools": remove,
  "GET /pools/{poolid}": get,
  "PUT /pools/{poolid}": update,
  "DELETE /pools/{poolid}": remove,
}
