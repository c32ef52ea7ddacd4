import { failure, wrapped } from "../core/errors.ts"
import type { User } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { flag, optionalNumber, optionalText, text, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { touchAccess, userNamed, groupsOf, forgetSubject, describeToken, realmOf, present } from "./access-entries.ts"
import { hashPassword } from "./tickets.ts"

const describeUser = (user: User) => ({
  enable: user.enabled ? 1 : 0,
  expire: user.expire,
  ...present("comment", user.comment),
  ...present("email", user.email),
  ...present("firstname", user.firstname),
  ...present("lastname", user.lastname),
  ...present("keys", user.keys),
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
        user.userid === identity.authId ||
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
  const groups = optionalText(call, "groups")
  let user: User
  try {
    user = userNamed(world, text(call, "userid"))
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

const deleteUser = (call: Call): null => {
  const { world } = call
  const user = userNamed(world, text(call, "userid"))
  world.state.access.users.delete(user.userid)
  for (const group of world.state.access.groups.values()) group.members.delete(user.userid)
  forgetSubject(world, (subject) => subject === user.userid || subject.startsWith(`${user.userid}!`))
  return null
}

/** No user has a second factor. */
const secondFactors = (call: Call): unknown[] => (userNamed(call.world, text(call, "userid")), [])

/** Users. */
export const userRoutes: Routes = {
  "GET /access/users": listUsers,
  "POST /access/users": createUser,
  "GET /access/users/{userid}": getUser,
  "PUT /access/users/{userid}": updateUser,
  "DELETE /access/users/{userid}": deleteUser,
  "GET /access/users/{userid}/tfa": (call) => (secondFactors(call), flag(call, "multiple") ? { types: [] } : {}),
  "GET /access/tfa": () => [],
  "GET /access/tfa/{userid}": secondFactors,
}
