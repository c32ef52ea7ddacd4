import { failure } from "../core/errors.ts"
import type { User } from "../core/state.ts"
import type { World } from "../core/world.ts"

/** Clears caches because rights may have changed. */
export const touchAccess = (world: World): void => {
  world.state.access.version += 1
}

/** Returns a user, or fails with the missing name. */
export const userNamed = (world: World, userid: string): User => {
  const user = world.state.access.users.get(userid)
  if (user === undefined) throw failure(`no such user ('${userid}')`)
  return user
}

/** The groups a user is in. */
export const groupsOf = (world: World, userid: string): string[] =>
  [...world.state.access.groups].filter(([, group]) => group.members.has(userid)).map(([name]) => name)

/** A member of an answer that is omitted without a value. */
export const present = <T>(key: string, value: T | undefined): Record<string, T> => (value === undefined ? {} : { [key]: value })

/** Removes a subject from the access list. */
export const forgetSubject = (world: World, matches: (subject: string) => boolean): void => {
  for (const [path, entries] of world.state.access.acl) {
    for (const subject of entries.keys()) if (matches(subject)) entries.delete(subject)
    if (entries.size === 0) world.state.access.acl.delete(path)
  }
  touchAccess(world)
}

/** A token as the API shows it. */
export const describeToken = (token: { comment: string | undefined; expire: number; privsep: boolean }) => ({
  ...present("comment", token.comment),
  expire: token.expire,
  privsep: token.privsep ? 1 : 0,
})

/** The part of a user id after its last @. */
export const realmOf = (userid: string): string => userid.slice(userid.lastIndexOf("@") + 1)

/** Returns a role, or fails with the missing name. */
export const roleNamed = (world: World, id: string) => {
  const role = world.state.access.roles.get(id)
  if (role === undefined) throw failure(`role '${id}' does not exist`)
  return role
}
