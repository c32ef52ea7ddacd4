import { badParameter, failure } from "../core/errors.ts"
import { flag, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { splitList } from "../schema/formats.ts"
import { touchAccess, roleNamed } from "./access-entries.ts"

const createRole = (call: Call): null => {
  const id = text(call, "roleid")
  if (/^pve/i.test(id)) throw badParameter({ roleid: "cannot use role ID starting with the (case-insensitive) 'PVE' namespace" })
  const { roles } = call.world.state.access
  if (roles.has(id)) throw failure(`create role failed: role '${id}' already exists`)
  roles.set(id, { special: false, privileges: new Set(splitList(optionalText(call, "privs") ?? "")) })
  return null
}

const updateRole = (call: Call): null => {
  const id = text(call, "roleid")
  const role = call.world.state.access.roles.get(id)
  if (role === undefined) throw failure(`update role failed: role '${id}' does not exist`)
  if (role.special) throw failure(`update role failed: auto-generated role '${id}' cannot be modified`)
  const privileges = splitList(optionalText(call, "privs") ?? "")
  role.privileges = new Set(flag(call, "append") ? [...role.privileges, ...privileges] : privileges)
  touchAccess(call.world)
  return null
}

const deleteRole = (call: Call): null => {
  const id = text(call, "roleid")
  const role = call.world.state.access.roles.get(id)
  if (role === undefined) throw failure(`delete role failed: role '${id}' does not exist`)
  if (role.special) throw failure(`delete role failed: auto-generated role '${id}' cannot be deleted`)
  call.world.state.access.roles.delete(id)
  for (const entries of call.world.state.access.acl.values()) for (const roles of entries.values()) roles.delete(id)
  touchAccess(call.world)
  return null
}

const describeRole = (privileges: ReadonlySet<string>) =>
  Object.fromEntries([...privileges].toSorted().map((privilege) => [privilege, 1]))

/** Roles. */
export const roleRoutes: Routes = {
  "GET /access/roles": (call) =>
    [...call.world.state.access.roles].map(([roleid, role]) => ({
      roleid,
      privs: [...role.privileges].toSorted().join(","),
      special: role.special ? 1 : 0,
    })),
  "POST /access/roles": createRole,
  "GET /access/roles/{roleid}": (call) => describeRole(roleNamed(call.world, text(call, "roleid")).privileges),
  "PUT /access/roles/{roleid}": updateRole,
  "DELETE /access/roles/{roleid}": deleteRole,
}
