import { createHash } from "node:crypto"
import { badParameter, failure } from "../core/errors.ts"
import type { Config } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { type Call, optionalText, type Routes, text } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"
import { checkFormat, FormatError, splitList } from "../schema/formats.ts"

const prefix = /^custom-/u

/** The name of a model without its prefix. */
const nameOf = (call: Call): string => text(call, "cputype").replace(prefix, "")

/** The same, checked to be a valid name. */
const newName = (call: Call): string => {
  const name = nameOf(call)
  try {
    checkFormat("pve-configid", name)
  } catch (error) {
    if (error instanceof FormatError) throw failure(error.message.trimEnd())
    throw error
  }
  return name
}

const digestOf = ({ state }: World): string =>
  createHash("sha1")
    .update(JSON.stringify([...state.cpuModels]))
    .digest("hex")

const steering = new Set(["cputype", "delete", "digest"])

const optionsOf = (call: Call): Config =>
  Object.fromEntries(
    Object.entries(call.parameters).filter((entry): entry is [string, string | number] => !steering.has(entry[0])),
  )

const shown = (world: World, name: string, options: Config): Record<string, unknown> => ({
  cputype: `custom-${name}`,
  ...options,
  digest: digestOf(world),
})

/** The models that the caller may see, sorted by name. */
export const visibleModels = ({ world, identity }: Call): [string, Config][] =>
  [...world.state.cpuModels]
    .filter(([name]) => may(world, identity, `/mapping/cpu/${name}`, ["Mapping.Modify", "Mapping.Use", "Mapping.Audit"], true))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

const list = (call: Call): unknown[] => visibleModels(call).map(([name, options]) => shown(call.world, name, options))

const get = (call: Call): unknown => {
  const name = nameOf(call)
  return shown(call.world, name, existing(call.world, name))
}

const existing = ({ state }: World, name: string): Config => {
  const model = state.cpuModels.get(name)
  if (model === undefined) throw failure(`Custom cputype '${name}' not found`)
  return model
}

/** The model to change. The server reports a missing model with another message here than when reading. */
const own = ({ state }: World, name: string): Config => {
  const model = state.cpuModels.get(name)
  if (model === undefined) throw failure(`custom CPU model '${name}' does not exist`)
  return model
}

const create = (call: Call): null => {
  const name = newName(call)
  const { cpuModels } = call.world.state
  if (cpuModels.has(name)) throw failure(`custom CPU model '${name}' already exists`)
  cpuModels.set(name, optionsOf(call))
  return null
}

const update = (call: Call): null => {
  const { world } = call
  const removed = splitList(optionalText(call, "delete") ?? "")
  if (removed.includes("cputype")) throw failure("cannot delete 'cputype'")
  const name = newName(call)
  const digest = optionalText(call, "digest")
  if (digest !== undefined && digest !== digestOf(world))
    throw failure("detected modified configuration - file changed by other user? Try again.")
  const kept = Object.entries(own(world, name)).filter(([key]) => !removed.includes(key))
  world.state.cpuModels.set(name, { ...Object.fromEntries(kept), ...optionsOf(call) })
  return null
}

const remove = (call: Call): null => {
  const name = nameOf(call)
  own(call.world, name)
  call.world.state.cpuModels.delete(name)
  return null
}

/** The custom model in a VM's `cpu` option; undefined if it is a built-in one. */
const customModel = (cpu: Config[string] | undefined): string | undefined => {
  const model = String(cpu ?? "")
    .split(",")
    .find((part) => !part.includes("=") || part.startsWith("cputype="))
    ?.replace("cputype=", "")
  return model !== undefined && prefix.test(model) ? model.replace(prefix, "") : undefined
}

/** A model set for a VM must exist, and the caller must be allowed to use it. Changing other settings of `cpu` needs no such right. */
export const checkCpuModel = (call: Call, cpu: Config[string] | undefined, before?: Config[string]): void => {
  const name = customModel(cpu)
  if (name === undefined) return
  if (!call.world.state.cpuModels.has(name)) throw badParameter({ cpu: `invalid format - Custom cputype '${name}' not found\n` })
  if (customModel(before) !== name) demand(call.world, call.identity, `/mapping/cpu/${name}`, ["Mapping.Use"])
}

/** Throws if the model of a starting VM does not exist. */
export const needCpuModel = (world: World, cpu: Config[string] | undefined): void => {
  const name = customModel(cpu)
  if (name !== undefined) existing(world, name)
}

/** Custom processor models. */
export const cpuModelRoutes: Routes = {
  "GET /cluster/qemu/custom-cpu-models": list,
  "POST /cluster/qemu/custom-cpu-models": create,
  "GET /cluster/qemu/custom-cpu-models/{cputype}": get,
  "PUT /cluster/qemu/custom-cpu-models/{cputype}": update,
  "DELETE /cluster/qemu/custom-cpu-models/{cputype}": remove,
}
