import { createHash } from "node:crypto"
import { failure, PveError, wrapped } from "../core/errors.ts"
import type { HaRule } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { haOf } from "../ha/resources.ts"
import { sidOf } from "../ha/rules.ts"
import { flag, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { splitList } from "../schema/formats.ts"

const digestOf = (world: World): string =>
  createHash("sha1")
    .update(JSON.stringify([...world.state.haRules.values()].map((rule) => ({ ...rule, nodes: [...rule.nodes] }))))
    .digest("hex")

const shown = (world: World, rule: HaRule): Record<string, unknown> => ({
  rule: rule.rule,
  type: rule.type,
  resources: rule.resources.map(sidOf).join(","),
  ...(rule.type === "node-affinity"
    ? {
        nodes: [...rule.nodes].map(([name, priority]) => (priority === 0 ? name : `${name}:${priority}`)).join(","),
        strict: rule.strict ? 1 : 0,
      }
    : { affinity: rule.affinity }),
  ...(rule.disabled ? { disable: 1 } : {}),
  ...(rule.comment === undefined ? {} : { comment: rule.comment }),
  order: [...world.state.haRules.keys()].indexOf(rule.rule) + 1,
  digest: digestOf(world),
})

const list = (call: Call): unknown[] => {
  const type = optionalText(call, "type")
  const resource = optionalText(call, "resource")
  return [...call.world.state.haRules.values()]
    .filter(
      (rule) =>
        (type === undefined || rule.type === type) && (resource === undefined || rule.resources.map(sidOf).includes(resource)),
    )
    .map((rule) => shown(call.world, rule))
}

const get = (call: Call): unknown => {
  const rule = call.world.state.haRules.get(text(call, "rule"))
  if (rule === undefined) throw failure(`no such ha rule '${text(call, "rule")}'`)
  return shown(call.world, rule)
}

/** `vm:100` or `100`, each once. */
const givenResources = (call: Call): number[] | undefined => {
  const given = optionalText(call, "resources")
  if (given === undefined) return undefined
  return [...new Set(splitList(given).map((sid) => Number(sid.replace(/^vm:/, ""))))].toSorted((a, b) => a - b)
}

/** `pve1:2,pve2`: names, each with a priority or 0. */
const givenNodes = (call: Call): Map<string, number> | undefined => {
  const given = optionalText(call, "nodes")
  if (given === undefined) return undefined
  return new Map(
    splitList(given).map((entry) => {
      const [name = "", priority = "0"] = entry.split(":")
      return [name, Number(priority)]
    }),
  )
}

const edited = (call: Call, type: HaRule["type"], old: HaRule | undefined): HaRule => {
  const removed = new Set(splitList(optionalText(call, "delete") ?? ""))
  const kept = <A>(name: string, given: A | undefined, before: A): A => given ?? (removed.has(name) ? (undefined as A) : before)
  const setFlag = (name: string, before: boolean | undefined): boolean =>
    call.parameters[name] === undefined ? before === true && !removed.has(name) : flag(call, name)
  return {
    rule: text(call, "rule"),
    type,
    resources: givenResources(call) ?? old?.resources ?? [],
    nodes: givenNodes(call) ?? old?.nodes ?? new Map(),
    strict: setFlag("strict", old?.strict),
    affinity: (optionalText(call, "affinity") as HaRule["affinity"]) ?? old?.affinity,
    disabled: setFlag("disable", old?.disabled),
    comment: kept("comment", optionalText(call, "comment"), old?.comment),
  }
}

const invalid = (rule: HaRule, what: Readonly<Record<string, string>>): PveError =>
  new PveError(400, `Rule '${rule.rule}' is invalid.`, { errors: what })

/** Checks that what a rule names exists, and that the rule can be fulfilled. */
const check = (world: World, rule: HaRule): void => {
  const unmanaged = rule.resources.filter((vmid) => haOf(world, vmid) === undefined).map(sidOf)
  if (unmanaged.length > 0) throw failure(`cannot use unmanaged resource(s) ${unmanaged.join(", ")}.`)
  const unknown = [...rule.nodes.keys()].filter((name) => !world.state.nodes.has(name))
  if (unknown.length > 0) throw failure(`cannot use non-existant node(s) ${unknown.join(", ")}.`)
  if (rule.type === "node-affinity") {
    const others = [...world.state.haRules.values()].filter(
      (other) => other.type === "node-affinity" && other.rule !== rule.rule && !other.disabled,
    )
    if (others.some((other) => other.resources.some((vmid) => rule.resources.includes(vmid))))
      throw invalid(rule, { resources: "resource is already used in another node affinity rule" })
    return
  }
  if (rule.resources.length < 2) throw invalid(rule, { resources: "rule is ineffective as there are less than two resources" })
  if (rule.affinity === "negative" && rule.resources.length > world.state.nodes.size)
    throw invalid(rule, { resources: "rule defines more resources than available nodes" })
}

const locked = (call: Call, operation: string, change: () => void): null => {
  try {
    change()
  } catch (error) {
    throw wrapped(operation, error)
  }
  call.world.wakeManager()
  return null
}

const create = (call: Call): null => {
  const id = text(call, "rule")
  const type = text(call, "type") as HaRule["type"]
  const needed = type === "node-affinity" ? "nodes" : "affinity"
  if (optionalText(call, needed) === undefined) throw failure(`missing value for required option '${needed}'`)
  return locked(call, "create ha rule failed", () => {
    const { haRules } = call.world.state
    if (haRules.has(id)) throw failure(`HA rule '${id}' already defined`)
    const rule = edited(call, type, undefined)
    check(call.world, rule)
    haRules.set(id, rule)
  })
}

const update = (call: Call): null =>
  locked(call, "update HA rules failed", () => {
    const { world } = call
    const old = world.state.haRules.get(text(call, "rule"))
    const digest = optionalText(call, "digest")
    if (digest !== undefined && digest !== digestOf(world))
      throw failure("detected modified configuration - file changed by other user? Try again.")
    if (old === undefined) throw failure(`HA rule '${text(call, "rule")}' does not exist`)
    const rule = edited(call, old.type, old)
    check(world, rule)
    world.state.haRules.set(old.rule, rule)
  })

const remove = (call: Call): null =>
  locked(call, "delete ha rule failed", () => {
    call.world.state.haRules.delete(text(call, "rule"))
  })

/** HA groups were replaced by rules in version 9. */
const groupsAreGone = (what: string) => (): never => {
  throw failure(`cannot ${what}: ha groups have been migrated to rules`)
}

/** High availability rules: the nodes on which a resource may be, and the resources that must be together or apart. */
export const haRuleRoutes: Routes = {
  "GET /cluster/ha/rules": list,
  "POST /cluster/ha/rules": create,
  "GET /cluster/ha/rules/{rule}": get,
  "PUT /cluster/ha/rules/{rule}": update,
  "DELETE /cluster/ha/rules/{rule}": remove,
  "GET /cluster/ha/groups": groupsAreGone("index groups"),
  "POST /cluster/ha/groups": groupsAreGone("create group"),
  "GET /cluster/ha/groups/{group}": groupsAreGone("read group"),
  "PUT /cluster/ha/groups/{group}": groupsAreGone("update group"),
  "DELETE /cluster/ha/groups/{group}": groupsAreGone("delete group"),
}
