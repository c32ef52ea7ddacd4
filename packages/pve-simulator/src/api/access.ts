import { badParameter, failure, wrapped } from "../core/errors.ts"
import type { User } from "../core/state.ts"
import { randomUuid } from "../core/random.ts"
import type { World } from "../core/world.ts"
import { flag, optionalNumber, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { hashSecret } from "../http/identity.ts"
import { may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { hashPassword } from "./tickets.ts"

const touchAccess = (world: World): void => {
  world.state.access.version += 1
}

const realmOf = (userid: string): string => userid.slice(userid.lastIndexOf("@") + 1)

const userNamed = (world: World, userid: string): User => {
  const user = world.state.access.users.get(userid)
  if (user === undefined) throw failure(`no such user ('${userid}')`)
  return user
}

const groupsOf = (world: World, userid: string): string[] =>
  [...world.state.access.groups].filter(([, group]) => group.members.has(userid)).map(([name]) => name)

const present = <T>(key: string, value: T | undefined): Record<string, T> => (value === undefined ? {} : { [key]: value })

const describeUser = (user: User) => ({
  enable: user.enabled ? 1 : 0,
  expire: user.expire,
  ...present("comment", user.comment),
  ...present("email", user.email),
  ...present("firstname", user.firstname),
  ...present("lastname", user.lastname),
  ...present("keys", user.keys),
})

const describeToken = (token: { comment: string | undefined; expire: number; privsep: boolean }) => ({
  ...present("comment", token.comment),
  expire: token.expire,
  privsep: token.privsep ? 1 : 0,
})

const checkUserName = (userid: string): void => {
  if (!/^[^\s:/]+@[A-Za-z][A-Za-z0-9.\-_]+$/.test(userid)) throw failure(`value '${userid}' does not look like a valid user name`)
}

const listUsers = (call: Call): unknown[] => {
  const { world, identity } = call
  const all = may(world, identity, "/access/groups", ["User.Modify", "Sys.Audit"], true)
  const wanted = call.parameters["enabled"]
  return [...world.state.access.users.values()]
    .filter(
      (user) =>
        all ||
        user.userid === identity.user ||
        groupsOf(world, user.userid).some((group) =>
          may(world, identity, `/access/groups/${group}`, ["User.Modify", "Sys.Audit"], true),
        ),
    )
    .filter((user) => wanted === undefined || (wanted === 1) === user.enabled)
    .map((user) => ({
      userid: user.userid,
      ...describeUser(user),
      "realm-type": world.state.access.realms.get(realmOf(user.userid))?.type ?? "pve",
      ...(flag(call, "full")
        ? {
            groups: groupsOf(world, user.userid).join(","),
            tokens: [...user.tokens.values()].map((token) => ({ tokenid: token.tokenid, ...describeToken(token) })),
          }
        : {}),
    }))
}

const getUser = (call: Call) => {
  const user = userNamed(call.world, text(call, "userid"))
  const tokens = Object.fromEntries([...user.tokens.values()].map((token) => [token.tokenid, describeToken(token)]))
  return { ...describeUser(user), groups: groupsOf(call.world, user.userid), tokens: user.tokens.size === 0 ? null : tokens }
}

const setGroups = (world: World, userid: string, groups: readonly string[], append: boolean): void => {
  for (const name of groups) if (!world.state.access.groups.has(name)) throw failure(`no such group '${name}'`)
  if (!append) for (const group of world.state.access.groups.values()) group.members.delete(userid)
  for (const name of groups) world.state.access.groups.get(name)!.members.add(userid)
}

const createUser = (call: Call): null => {
  const { world } = call
  const userid = text(call, "userid")
  checkUserName(userid)
  try {
    if (!world.state.access.realms.has(realmOf(userid))) throw failure(`auth domain '${realmOf(userid)}' does not exist`)
    if (world.state.access.users.has(userid)) throw failure(`user '${userid}' already exists`)
    const password = optionalText(call, "password")
    if (password !== undefined && realmOf(userid) === "pam")
      throw failure(`change password failed: user '${userid.split("@")[0]}' does not exist`)
    const groups = splitList(optionalText(call, "groups") ?? "")
    for (const name of groups) if (!world.state.access.groups.has(name)) throw failure(`no such group '${name}'`)
    world.state.access.users.set(userid, {
      userid,
      enabled: call.parameters["enable"] === undefined || flag(call, "enable"),
      expire: optionalNumber(call, "expire") ?? 0,
      comment: optionalText(call, "comment"),
      email: optionalText(call, "email"),
      firstname: optionalText(call, "firstname"),
      lastname: optionalText(call, "lastname"),
      keys: optionalText(call, "keys"),
      password: password === undefined ? undefined : hashPassword(world, password),
      tokens: new Map(),
    })
    setGroups(world, userid, groups, false)
  } catch (error) {
    throw wrapped("create user failed", error)
  }
  touchAccess(world)
  return null
}

const updateUser = (call: Call): null => {
  const { world } = call
  const user = userNamed(world, text(call, "userid"))
  const groups = optionalText(call, "groups")
  try {
    if (groups !== undefined) setGroups(world, user.userid, splitList(groups), flag(call, "append"))
  } catch (error) {
    throw wrapped("update user failed", error)
  }
  if (call.parameters["enable"] !== undefined) user.enabled = flag(call, "enable")
  if (call.parameters["expire"] !== undefined) user.expire = optionalNumber(call, "expire") ?? 0
  for (const key of ["comment", "email", "firstname", "lastname", "keys"] as const)
    user[key] = optionalText(call, key) ?? user[key]
  touchAccess(world)
  return null
}

/** Takes a subject out of the access list. */
const forgetSubject = (world: World, matches: (subject: string) => boolean): void => {
  for (const [path, entries] of world.state.access.acl) {
    for (const subject of entries.keys()) if (matches(subject)) entries.delete(subject)
    if (entries.size === 0) world.state.access.acl.delete(path)
  }
  touchAccess(world)
}

const deleteUser = (call: Call): null => {
  const { world } = call
  const user = userNamed(world, text(call, "userid"))
  world.state.access.users.delete(user.userid)
  for (const group of world.state.access.groups.values()) group.members.delete(user.userid)
  forgetSubject(world, (subject) => subject === user.userid || subject.startsWith(`${user.userid}!`))
  return null
}

const listTokens = (call: Call): unknown[] =>
  [...userNamed(call.world, text(call, "userid")).tokens.values()].map((token) => ({
    tokenid: token.tokenid,
    ...describeToken(token),
  }))

const tokenOf = (call: Call) => {
  const user = userNamed(call.world, text(call, "userid"))
  const token = user.tokens.get(text(call, "tokenid"))
  if (token === undefined) throw failure(`no such token '${text(call, "tokenid")}' for user '${user.userid}'`)
  return { user, token }
}

const createToken = (call: Call) => {
  const { world } = call
  const user = userNamed(world, text(call, "userid"))
  const tokenid = text(call, "tokenid")
  if (user.tokens.has(tokenid)) throw badParameter({ tokenid: "Token already exists." })
  const value = randomUuid(world.state.random)
  const privsep = call.parameters["privsep"] === undefined || flag(call, "privsep")
  user.tokens.set(tokenid, {
    tokenid,
    privsep,
    expire: optionalNumber(call, "expire") ?? 0,
    comment: optionalText(call, "comment"),
    hash: hashSecret("token", value),
  })
  touchAccess(world)
  // What was given comes back as text, what was assumed as a number.
  const info = {
    privsep: call.parameters["privsep"] === undefined ? 1 : text(call, "privsep"),
    ...present("comment", optionalText(call, "comment")),
    ...present("expire", optionalText(call, "expire")),
  }
  return { "full-tokenid": `${user.userid}!${tokenid}`, info, value }
}

const updateToken = (call: Call) => {
  const { token } = tokenOf(call)
  if (call.parameters["privsep"] !== undefined) token.privsep = flag(call, "privsep")
  if (call.parameters["expire"] !== undefined) token.expire = optionalNumber(call, "expire") ?? 0
  token.comment = optionalText(call, "comment") ?? token.comment
  touchAccess(call.world)
  return describeToken(token)
}

const deleteToken = (call: Call): null => {
  const { user, token } = tokenOf(call)
  user.tokens.delete(token.tokenid)
  forgetSubject(call.world, (subject) => subject === `${user.userid}!${token.tokenid}`)
  return null
}

const groupNamed = (world: World, id: string) => {
  const group = world.state.access.groups.get(id)
  if (group === undefined) throw failure(`group '${id}' does not exist`)
  return group
}

const listGroups = (call: Call): unknown[] => {
  const { world, identity } = call
  const rights = ["User.Modify", "Sys.Audit", "Group.Allocate"]
  return [...world.state.access.groups]
    .filter(
      ([id]) =>
        may(world, identity, "/access/groups", rights, true) || may(world, identity, `/access/groups/${id}`, rights, true),
    )
    .map(([groupid, group]) => ({ groupid, users: [...group.members].join(","), ...present("comment", group.comment) }))
}

const createGroup = (call: Call): null => {
  const id = text(call, "groupid")
  const { groups } = call.world.state.access
  if (groups.has(id)) throw failure(`create group failed: group '${id}' already exists`)
  groups.set(id, { comment: optionalText(call, "comment"), members: new Set() })
  return null
}

const deleteGroup = (call: Call): null => {
  const id = text(call, "groupid")
  if (!call.world.state.access.groups.has(id)) throw failure(`delete group failed: group '${id}' does not exist`)
  call.world.state.access.groups.delete(id)
  forgetSubject(call.world, (subject) => subject === `@${id}`)
  return null
}

const roleNamed = (world: World, id: string) => {
  const role = world.state.access.roles.get(id)
  if (role === undefined) throw failure(`role '${id}' does not exist`)
  return role
}

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
  const role = roleNamed(call.world, id)
  if (role.special) throw failure(`update role failed: auto-generated role '${id}' cannot be modified`)
  const privileges = splitList(optionalText(call, "privs") ?? "")
  role.privileges = new Set(flag(call, "append") ? [...role.privileges, ...privileges] : privileges)
  touchAccess(call.world)
  return null
}

const deleteRole = (call: Call): null => {
  const id = text(call, "roleid")
  const role = roleNamed(call.world, id)
  if (role.special) throw failure(`delete role failed: auto-generated role '${id}' cannot be deleted`)
  call.world.state.access.roles.delete(id)
  for (const entries of call.world.state.access.acl.values()) for (const roles of entries.values()) roles.delete(id)
  touchAccess(call.world)
  return null
}

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
    const visible = may(world, identity, "/access", ["Sys.Audit"]) || may(world, identity, path, ["Permissions.Modify"])
    if (!visible) continue
    for (const [subject, roles] of entries) {
      const type = subject.startsWith("@") ? "group" : subject.includes("!") ? "token" : "user"
      for (const [roleid, propagate] of roles)
        out.push({ path, type, ugid: subject.replace(/^@/, ""), roleid, propagate: propagate ? 1 : 0 })
    }
  }
  return out
}

/** The subjects that a change of the access list names, each of which must exist. */
const subjectsIn = (call: Call): string[] => {
  const { access } = call.world.state
  const users = splitList(optionalText(call, "users") ?? "")
  const groups = splitList(optionalText(call, "groups") ?? "")
  const tokens = splitList(optionalText(call, "tokens") ?? "")
  const removing = flag(call, "delete")
  for (const user of users) if (!removing && !access.users.has(user)) throw failure(`user '${user}' does not exist`)
  for (const group of groups) if (!removing && !access.groups.has(group)) throw failure(`group '${group}' does not exist`)
  for (const token of tokens) {
    const [user = "", id = ""] = token.split("!")
    if (!removing && !access.users.get(user)?.tokens.has(id)) throw failure(`no such token '${id}' for user '${user}'`)
  }
  return [...users, ...groups.map((group) => `@${group}`), ...tokens]
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
    const entries = access.acl.get(path) ?? new Map<string, Map<string, boolean>>()
    for (const subject of subjectsIn(call)) {
      const held = entries.get(subject) ?? new Map<string, boolean>()
      for (const role of roles) {
        if (flag(call, "delete")) held.delete(role)
        else held.set(role, call.parameters["propagate"] === undefined || flag(call, "propagate"))
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

const describeRole = (privileges: ReadonlySet<string>) =>
  Object.fromEntries([...privileges].toSorted().map((privilege) => [privilege, 1]))

const realmNamed = (world: World, id: string) => {
  const realm = world.state.access.realms.get(id)
  if (realm === undefined) throw failure(`domain '${id}' does not exist`)
  return realm
}

const createRealm = (call: Call): null => {
  const id = text(call, "realm")
  const { realms } = call.world.state.access
  if (realms.has(id)) throw failure(`add auth server failed: authentication domain '${id}' already exists`)
  realms.set(id, { type: text(call, "type"), comment: optionalText(call, "comment") ?? "", default: flag(call, "default") })
  return null
}

export const accessRoutes: Routes = {
  "GET /access/users": listUsers,
  "POST /access/users": createUser,
  "GET /access/users/{userid}": getUser,
  "PUT /access/users/{userid}": updateUser,
  "DELETE /access/users/{userid}": deleteUser,
  "GET /access/users/{userid}/token": listTokens,
  "GET /access/users/{userid}/token/{tokenid}": (call) => describeToken(tokenOf(call).token),
  "POST /access/users/{userid}/token/{tokenid}": createToken,
  "PUT /access/users/{userid}/token/{tokenid}": updateToken,
  "DELETE /access/users/{userid}/token/{tokenid}": deleteToken,
  "GET /access/groups": listGroups,
  "POST /access/groups": createGroup,
  "GET /access/groups/{groupid}": (call) => {
    const group = groupNamed(call.world, text(call, "groupid"))
    return { members: [...group.members], ...present("comment", group.comment) }
  },
  "PUT /access/groups/{groupid}": (call) => {
    const group = groupNamed(call.world, text(call, "groupid"))
    group.comment = optionalText(call, "comment") ?? group.comment
    return null
  },
  "DELETE /access/groups/{groupid}": deleteGroup,
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
  "GET /access/acl": getAcl,
  "PUT /access/acl": putAcl,
  "GET /access/domains": (call) =>
    [...call.world.state.access.realms].map(([realm, { type, comment }]) => ({ realm, type, comment })),
  "POST /access/domains": createRealm,
  "GET /access/domains/{realm}": (call) => realmNamed(call.world, text(call, "realm")),
  "DELETE /access/domains/{realm}": (call) => (
    realmNamed(call.world, text(call, "realm")),
    call.world.state.access.realms.delete(text(call, "realm")),
    null
  ),
}
