import { badParameter, failure, wrapped } from "../core/errors.ts"
import { flag, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { may, modifyPrivileges, rightsWithPropagation } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { touchAccess, roleNamed } from "./access-entries.ts"

const aclPath =
  /^\/(?:access(?:\/(?:groups|realm)(?:\/[^/]+)?)?|mapping(?:\/[a-z]+(?:\/[^/]+)?)?|nodes(?:\/[^/]+)?|pool(?:\/[^/]+){0,3}|sdn(?:\/(?:zones(?:\/[^/]+){0,3}|controllers|dns|ipams|fabrics|prefix-lists|route-maps)(?:\/[^/]+)?)?|storage(?:\/[^/]+)?|vms(?:\/[1-9]\d{2,})?)?$/

const normaliseAclPath = (path: string): string => {
  const normal = `/${path
    .split("/")
    .filter((part) => part !== "")
    .join("/")}`
  if (!aclPath.test(normal)) throw badParameter({ path: `invalid ACL path '${normal}'` })
  return normal
}

const getAcl = (call: Call): unknown[] => {
  const { world, identity } = call
  const out: unknown[] = []
  for (const [path, entries] of world.state.access.acl) {
    const visible = may(world, identity, "/access", ["Sys.Audit"]) || may(world, identity, path, modifyPrivileges(path), true)
    if (!visible) continue
    for (const [subject, roles] of entries) {
      const type = subject.startsWith("@") ? "group" : subject.includes("!") ? "token" : "user"
      for (const [roleid, propagate] of roles)
        out.push({ path, type, ugid: subject.replace(/^@/, ""), roleid, propagate: propagate ? 1 : 0 })
    }
  }
  return out
}

/** The subjects named in a change of the access list. Each must exist, even if it loses a role. */
const subjectsIn = (call: Call): string[] => {
  const { access } = call.world.state
  const users = splitList(optionalText(call, "users") ?? "")
  const groups = splitList(optionalText(call, "groups") ?? "")
  const tokens = splitList(optionalText(call, "tokens") ?? "")
  for (const user of users) if (!access.users.has(user)) throw failure(`user '${user}' does not exist`)
  for (const group of groups) if (!access.groups.has(group)) throw failure(`group '${group}' does not exist`)
  for (const token of tokens) {
    const [user = "", id = ""] = token.split("!")
    if (!access.users.get(user)?.tokens.has(id)) throw failure(`no such token '${id}' for user '${user}'`)
  }
  return [...users, ...groups.map((group) => `@${group}`), ...tokens]
}

/**
 * Without Permissions.Modify on the path, a caller (who may allocate machines, storages or pools there) may grant only privileges they
 * have.
 */
const checkRole = (call: Call, path: string, role: string, propagate: boolean): void => {
  const { world, identity } = call
  const own = rightsWithPropagation(world, identity.authId, path)
  if (own.has("Permissions.Modify")) return
  const isTaken = flag(call, "delete")
  const verb = isTaken ? "remove" : "add"
  for (const privilege of roleNamed(world, role).privileges) {
    if (!own.has(privilege))
      throw badParameter({
        role: `Cannot ${verb} role '${role}' - requires 'Permissions.Modify' or superset of privileges.`,
      })
    if (!isTaken && propagate && own.get(privilege) !== true)
      throw badParameter({
        role: `Cannot ${verb} role '${role}' with propagation - requires 'Permissions.Modify' or propagated superset of privileges.`,
      })
  }
  if (role === "NoAccess") throw badParameter({ role: `Cannot ${verb} role '${role}' - requires 'Permissions.Modify'` })
}

const putAcl = (call: Call): null => {
  const { access } = call.world.state
  if (["users", "groups", "tokens"].every((key) => call.parameters[key] === undefined)) {
    throw badParameter(
      Object.fromEntries(["users", "groups", "tokens"].map((key) => [key, "either 'users', 'groups' or 'tokens' is required."])),
    )
  }
  const path = normaliseAclPath(text(call, "path"))
  const roles = splitList(text(call, "roles"))
  try {
    for (const role of roles) roleNamed(call.world, role)
    const propagate = call.parameters["propagate"] === undefined || flag(call, "propagate")
    for (const role of roles) checkRole(call, path, role, propagate)
    const entries = access.acl.get(path) ?? new Map<string, Map<string, boolean>>()
    for (const subject of subjectsIn(call)) {
      const held = entries.get(subject) ?? new Map<string, boolean>()
      for (const role of roles) {
        if (flag(call, "delete")) held.delete(role)
        else held.set(role, propagate)
      }
      if (held.size === 0) entries.delete(subject)
      else entries.set(subject, held)
    }
    if (entries.size === 0) access.acl.delete(path)
    else access.acl.set(path, entries)
  } catch (error) {
    throw wrapped("ACL update failed", error)
  }
  touchAccess(call.world)
  return null
}

/** The access list. */
export const aclRoutes: Routes = {
  "GET /access/acl": getAcl,
  "PUT /access/acl": putAcl,
}
