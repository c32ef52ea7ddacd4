import { failure, wrapped } from "../core/errors.ts"
import type { StorageState } from "../core/state.ts"
import { storageNamed } from "../core/volumes.ts"
import { type Call, flag, optionalText, type Routes, text } from "../http/call.ts"
import { splitList } from "../schema/formats.ts"
import { checkDigest, digestOfPart } from "./digests.ts"
import { mayAudit } from "./storage.ts"

/** The options that a kind of storage needs, and the content that it has unless told otherwise. */
const types: Readonly<Record<string, { readonly needed: readonly string[]; readonly content: readonly string[] }>> = {
  btrfs: { needed: ["path"], content: ["images", "rootdir"] },
  cephfs: { needed: [], content: ["backup"] },
  cifs: { needed: ["server", "share"], content: ["images"] },
  dir: { needed: ["path"], content: ["images", "rootdir"] },
  esxi: { needed: ["server", "username"], content: ["import"] },
  iscsi: { needed: ["portal", "target"], content: ["images"] },
  lvm: { needed: ["vgname"], content: ["images"] },
  lvmthin: { needed: ["vgname", "thinpool"], content: ["images", "rootdir"] },
  nfs: { needed: ["server", "export"], content: ["images"] },
  pbs: { needed: ["server", "datastore"], content: ["backup"] },
  zfspool: { needed: ["pool"], content: ["images", "rootdir"] },
}

/** What the file with all definitions of storages says. */
const definitions = (call: Call) =>
  [...call.world.state.storages.values()].map(({ id, type, content, nodes, disabled, shared, options }) => ({
    id,
    type,
    content,
    nodes,
    disabled,
    shared,
    options,
  }))

const shown = (call: Call, storage: StorageState) => ({
  storage: storage.id,
  type: storage.type,
  content: storage.content.join(","),
  digest: digestOfPart(definitions(call)),
  ...(storage.shared ? { shared: 1 } : {}),
  ...(storage.nodes.length > 0 ? { nodes: storage.nodes.join(",") } : {}),
  ...(storage.disabled ? { disable: 1 } : {}),
  ...storage.options,
})

const list = (call: Call): unknown[] => {
  const type = optionalText(call, "type")
  return [...call.world.state.storages.values()]
    .filter((storage) => mayAudit(call, storage.id) && (type === undefined || storage.type === type))
    .map((storage) => shown(call, storage))
}

const fixed = new Set(["storage", "type", "content", "nodes", "disable", "shared", "delete", "digest"])

/** The options that a call sets, without those that every storage has. */
const optionsOf = (call: Call) =>
  Object.fromEntries(Object.entries(call.parameters).filter(([key]) => !fixed.has(key))) as Record<string, string | number>

const create = (call: Call) => {
  const { world } = call
  const id = text(call, "storage")
  const type = text(call, "type")
  const options = optionsOf(call)
  for (const name of types[type]?.needed ?? [])
    if (options[name] === undefined) throw failure(`missing value for required option '${name}'`)
  if (world.state.storages.has(id)) throw failure(`create storage failed: storage ID '${id}' already defined`)
  world.state.storages.set(id, {
    id,
    type,
    content: splitList(optionalText(call, "content") ?? types[type]?.content.join(",") ?? "images"),
    shared: flag(call, "shared") || ["nfs", "cifs", "rbd", "cephfs", "iscsi", "pbs"].includes(type),
    nodes: splitList(optionalText(call, "nodes") ?? ""),
    disabled: flag(call, "disable"),
    options,
    capacityBytes: 1024 ** 4,
    volumes: new Map(),
    full: false,
  })
  return { storage: id, type }
}

/** Finds the storage to change; a failure names what was tried. */
const changedStorage = (call: Call, deed: string): StorageState => {
  try {
    checkDigest(call, definitions(call))
    return storageNamed(call.world, text(call, "storage"))
  } catch (error) {
    throw wrapped(`${deed} storage failed`, error)
  }
}

const update = (call: Call) => {
  const storage = changedStorage(call, "update")
  const given = call.parameters
  if (given["content"] !== undefined) storage.content = splitList(text(call, "content"))
  if (given["nodes"] !== undefined) storage.nodes = splitList(text(call, "nodes"))
  if (given["disable"] !== undefined) storage.disabled = flag(call, "disable")
  Object.assign(storage.options, optionsOf(call))
  for (const name of splitList(optionalText(call, "delete") ?? "")) {
    if (name === "nodes") storage.nodes = []
    else if (name === "disable") storage.disabled = false
    else delete storage.options[name]
  }
  return { storage: storage.id, type: storage.type }
}

const remove = (call: Call): null => {
  const { state } = call.world
  const { id } = changedStorage(call, "delete")
  state.storages.delete(id)
  for (const pool of state.pools.values()) pool.storages.delete(id)
  state.access.acl.delete(`/storage/${id}`)
  state.access.version += 1
  return null
}

/** The definitions of storages. */
export const storageDefinitionRoutes: Routes = {
  "GET /storage": list,
  "POST /storage": create,
  "GET /storage/{storage}": (call) => shown(call, storageNamed(call.world, text(call, "storage"))),
  "PUT /storage/{storage}": update,
  "DELETE /storage/{storage}": remove,
}
