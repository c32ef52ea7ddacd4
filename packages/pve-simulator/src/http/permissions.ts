import { failure, forbidden } from "../core/errors.ts"
import { asText } from "../core/text.ts"
import type { World } from "../core/world.ts"
import { privileges, splitList } from "../schema/formats.ts"
import type { Check, Method } from "../schema/schema.ts"
import type { Identity } from "./identity.ts"

const everything: ReadonlySet<string> = new Set(privileges)

/** `/a/b/c` as `/`, `/a`, `/a/b`, `/a/b/c`. */
const ancestors = (path: string): string[] => {
  const out = ["/"]
  for (let at = path.indexOf("/", 1); at > 0; at = path.indexOf("/", at + 1)) out.push(path.slice(0, at))
  if (path !== "/") out.push(path)
  return out
}

/** Roles of a subject on a path by the inheritance rules: deeper paths win, own entries win over those of groups, NoAccess clears all. */
const rolesOn = (world: World, subject: string, groups: readonly string[], path: string): Map<string, boolean> => {
  let roles = new Map<string, boolean>()
  const steps = ancestors(path)
  steps.forEach((step, index) => {
    const final = index === steps.length - 1
    const entries = world.state.access.acl.get(step)
    if (entries === undefined) return
    const found = new Map<string, boolean>()
    const collect = (key: string) => {
      for (const [role, propagates] of entries.get(key) ?? []) if (final || propagates) found.set(role, propagates)
    }
    collect(subject)
    if (found.size === 0) for (const group of groups) collect(`@${group}`)
    if (found.has("NoAccess")) roles = new Map([["NoAccess", found.get("NoAccess")!]])
    else if (found.size > 0) roles = found
  })
  return roles
}

const groupsOf = (world: World, user: string): string[] => {
  const out: string[] = []
  for (const [name, group] of world.state.access.groups) if (group.members.has(user)) out.push(name)
  return out
}

/** Cache for the current version of the access state; cleared when anything about access or pools changes. */
const cacheOf = (world: World): World["rights"] => {
  const cache = world.rights
  if (cache.version !== world.state.access.version) {
    cache.byKey.clear()
    cache.pools.clear()
    for (const pool of world.state.pools.values()) {
      const paths = [...[...pool.vms].map((vmid) => `/vms/${vmid}`), ...[...pool.storages].map((id) => `/storage/${id}`)]
      for (const path of paths) {
        const held = cache.pools.get(path)
        if (held === undefined) cache.pools.set(path, [pool.poolid])
        else held.push(pool.poolid)
      }
    }
    cache.version = world.state.access.version
  }
  return cache
}

/** The paths of VMs and storages in pools, because rights on a pool apply to its members. */
export const pathsInPools = (world: World): Iterable<string> => cacheOf(world).pools.keys()

/**
 * Roles with "propagates" on a path that is in pools: those of all these pools (nested ones inherit from their parents) and those of the
 * path itself. Roles from a pool do not propagate below. NoAccess on the path clears all roles; on a pool it clears those of the path.
 */
const withPools = (own: Map<string, boolean>, pooled: ReadonlySet<string>): Map<string, boolean> => {
  if (pooled.size === 0 || own.has("NoAccess")) return own
  if (pooled.has("NoAccess")) return new Map([["NoAccess", false]])
  for (const role of pooled) if (!own.has(role)) own.set(role, false)
  return own
}

/** Privileges of one subject with "propagates" for each. */
const subjectRights = (world: World, subject: string, path: string): Map<string, boolean> => {
  const out = new Map<string, boolean>()
  const groups = subject.includes("!") ? [] : groupsOf(world, subject)
  const pools = cacheOf(world).pools.get(path) ?? []
  const pooled = new Set(pools.flatMap((pool) => [...rolesOn(world, subject, groups, `/pool/${pool}`).keys()]))
  for (const [role, propagates] of withPools(rolesOn(world, subject, groups, path), pooled)) {
    for (const privilege of world.state.access.roles.get(role)?.privileges ?? []) {
      out.set(privilege, (out.get(privilege) ?? false) || propagates)
    }
  }
  return out
}

/** The privileges of an identity on a path, each with whether it propagates below. */
export const rightsWithPropagation = (world: World, authId: string, path: string): Map<string, boolean> => {
  const [user = "", tokenid] = authId.split("!")
  if (tokenid === undefined) {
    if (user === "root@pam") return new Map(privileges.map((privilege) => [privilege, true]))
    return subjectRights(world, user, path)
  }
  const token = world.state.access.users.get(user)?.tokens.get(tokenid)
  if (token === undefined) return new Map()
  const ofUser = rightsWithPropagation(world, user, path)
  if (!token.privsep) return ofUser
  const own = subjectRights(world, authId, path)
  return new Map(
    [...own].flatMap(([privilege, propagates]) => {
      const users = ofUser.get(privilege)
      return users === undefined ? [] : [[privilege, propagates && users] as const]
    }),
  )
}

/** root@pam, and its tokens without privilege separation, may do everything. */
const mayEverything = (world: World, authId: string): boolean => {
  if (authId === "root@pam") return true
  if (!authId.startsWith("root@pam!")) return false
  return world.state.access.users.get("root@pam")?.tokens.get(authId.slice("root@pam!".length))?.privsep === false
}

/** The privileges of an identity on a path; cached until anything about access or pools changes. */
export const rightsOn = (world: World, authId: string, path: string): ReadonlySet<string> => {
  if (mayEverything(world, authId)) return everything
  const cache = cacheOf(world)
  const key = `${authId} ${path}`
  let rights = cache.byKey.get(key)
  if (rights === undefined) {
    rights = new Set(rightsWithPropagation(world, authId, path).keys())
    if (cache.byKey.size > 100_000) cache.byKey.clear()
    cache.byKey.set(key, rights)
  }
  return rights
}

/** True if the identity has all (or with `any` one) of the privileges on the path. */
export const may = (world: World, identity: Identity, path: string, wanted: readonly string[], any = false): boolean => {
  if (identity.isRoot) return true
  const rights = rightsOn(world, identity.authId, path)
  return any ? wanted.some((privilege) => rights.has(privilege)) : wanted.every((privilege) => rights.has(privilege))
}

/** Throws the 403 that names the path and the missing privileges. */
export const demand = (world: World, identity: Identity, path: string, wanted: readonly string[], any = false): void => {
  if (!may(world, identity, path, wanted, any)) throw forbidden(`${path}, ${wanted.join(any ? "|" : ",")}`)
}

type Given = Readonly<Record<string, unknown>>

const fill = (template: string, given: Given): string =>
  template.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = given[name]
    return typeof value === "string" || typeof value === "number" ? String(value) : ""
  })

/** Privileges with which a user may grant rights on such a path. */
export const modifyPrivileges = (path: string): readonly string[] => {
  if (path.startsWith("/storage/")) return ["Permissions.Modify", "Datastore.Allocate"]
  if (path.startsWith("/vms/")) return ["Permissions.Modify", "VM.Allocate"]
  if (path.startsWith("/pool/")) return ["Permissions.Modify", "Pool.Allocate"]
  return ["Permissions.Modify"]
}

const realmOf = (userid: string): string => userid.slice(userid.lastIndexOf("@") + 1)

/** A caller who may not change all users needs the right on all given groups and, for an existing user, on one of that user's groups. */
const mayOnGroups = (
  world: World,
  identity: Identity,
  wanted: readonly string[],
  userid: string,
  given: readonly string[] | undefined,
  isNew: boolean,
): boolean => {
  if (may(world, identity, "/access/groups", wanted, true)) return true
  const mayOn = (group: string) => may(world, identity, `/access/groups/${group}`, wanted, true)
  if ((isNew && given?.length === 0) || given?.every(mayOn) === false) return false
  return isNew || groupsOf(world, userid).some(mayOn)
}

/** Whether the check is about a user who does not exist, although the call does not create one. */
const isMissingUser = (world: World, [kind, ...rest]: Check, given: Given): boolean =>
  kind === "userid-group" &&
  optionOf(rest.slice(1), "groups_param") !== "create" &&
  !world.state.access.users.has(asText(given["userid"]))

const holds = (world: World, identity: Identity, check: Check, given: Given): boolean => {
  const [kind, ...rest] = check
  switch (kind) {
    case "and":
      return (rest as Check[]).every((inner) => holds(world, identity, inner, given))
    case "or":
      return (rest as Check[]).some((inner) => holds(world, identity, inner, given))
    case "perm": {
      const [path, wanted, ...options] = rest as [string, string[], ...unknown[]]
      const requiredParameter = optionOf(options, "require_param")
      if (typeof requiredParameter === "string" && given[requiredParameter] === undefined) return false
      return may(world, identity, fill(path, given), wanted, Boolean(optionOf(options, "any")))
    }
    case "userid-group": {
      if (isMissingUser(world, check, given)) return false
      const [wanted, ...options] = rest as [string[], ...unknown[]]
      const mode = optionOf(options, "groups_param")
      const groups = mode === undefined ? undefined : splitList(asText(given["groups"]))
      return mayOnGroups(world, identity, wanted, asText(given["userid"]), groups, mode === "create")
    }
    case "userid-param": {
      const userid = asText(given["userid"])
      if (rest[0] === "self") return userid === identity.authId
      return may(world, identity, `/access/realm/${realmOf(userid)}`, [String(rest[0])])
    }
    case "perm-modify":
      return may(world, identity, fill(String(rest[0]), given), modifyPrivileges(fill(String(rest[0]), given)), true)
    default:
      return false
  }
}

const optionOf = (options: readonly unknown[], name: string): unknown => {
  const at = options.indexOf(name)
  return at < 0 ? undefined : options[at + 1]
}

/** The message of a failed check: its first condition that does not hold; of alternatives, the last. */
const explain = (world: World, identity: Identity, check: Check, given: Given): string => {
  const [kind, ...rest] = check
  if (isMissingUser(world, check, given)) throw failure(`no such user ('${asText(given["userid"])}')`)
  if (kind === "perm") {
    const [path, wanted, ...options] = rest as [string, string[], ...unknown[]]
    return `${fill(path, given)}, ${wanted.join(optionOf(options, "any") ? "|" : ",")}`
  }
  if (kind === "perm-modify")
    return `${fill(String(rest[0]), given)}, ${modifyPrivileges(fill(String(rest[0]), given)).join("|")}`
  if (kind === "userid-group") return `/access/groups, ${(rest[0] as string[]).join("|")}`
  if (kind === "userid-param")
    return rest[0] === "self" ? "user" : `/access/realm/${realmOf(asText(given["userid"]))}, ${String(rest[0])}`
  const inner = rest as Check[]
  const failing = kind === "or" ? inner.at(-1)! : inner.find((each) => !holds(world, identity, each, given))!
  return explain(world, identity, failing, given)
}

/** The permission check that the schema prescribes for a call. */
export const checkPermission = (world: World, identity: Identity, method: Method, given: Given): void => {
  if (identity.isRoot || method.user !== undefined) return
  const { check } = method
  if (check === undefined) throw forbidden("user != root@pam")
  if (!holds(world, identity, check, given)) throw forbidden(explain(world, identity, check, given))
}
