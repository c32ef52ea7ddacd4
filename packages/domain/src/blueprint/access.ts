import type { GroupMember, GroupName } from "../access/group.ts"
import type { UserId } from "../access/ids.ts"
import type { User } from "../access/user.ts"
import type { Blueprint } from "./blueprint.ts"

/** Why a user may read a blueprint; the first of these if several apply. */
export type BlueprintAccess = "admin" | "owner" | "direct" | "group"

/** Undefined if the user may not read it. `groups`: the groups that the user is in, as member or manager. */
export const blueprintAccess = (
  blueprint: Blueprint,
  user: Pick<User, "id" | "isAdmin">,
  groups: ReadonlySet<GroupName>,
): BlueprintAccess | undefined => {
  if (user.isAdmin) return "admin"
  if (blueprint.owner === user.id) return "owner"
  if (blueprint.sharedUsers.includes(user.id)) return "direct"
  return blueprint.sharedGroups.some((name) => groups.has(name)) ? "group" : undefined
}

/** Whether this access allows changing or deleting the blueprint. Sharing never does. */
export const mayChangeBlueprint = (access: BlueprintAccess | undefined): boolean => access === "admin" || access === "owner"

/** A path by which a user who is not an administrator can read a blueprint. */
export type BlueprintPath = "direct" | "group-manager" | "group-member" | "owner"

/** A user who can read a blueprint, with all paths. */
export interface BlueprintReader {
  readonly userId: UserId
  /** Ascending and unique. */
  readonly paths: readonly BlueprintPath[]
  /** The groups that it is shared with, ascending. */
  readonly groups: readonly GroupName[]
}

/**
 * All users who can read the blueprint without being administrators, ascending by id. `members`: the members of each group it is shared
 * with.
 */
export const blueprintReaders = (
  blueprint: Blueprint,
  members: ReadonlyMap<GroupName, readonly GroupMember[]>,
): readonly BlueprintReader[] => {
  const found = new Map<UserId, { readonly paths: Set<BlueprintPath>; readonly groups: Set<GroupName> }>()
  const add = (userId: UserId, path: BlueprintPath, group?: GroupName) => {
    const reader = found.get(userId) ?? { paths: new Set(), groups: new Set() }
    reader.paths.add(path)
    if (group !== undefined) reader.groups.add(group)
    found.set(userId, reader)
  }
  if (blueprint.owner !== undefined) add(blueprint.owner, "owner")
  for (const userId of blueprint.sharedUsers) add(userId, "direct")
  for (const group of blueprint.sharedGroups)
    for (const { userId, role } of members.get(group) ?? [])
      add(userId, role === "manager" ? "group-manager" : "group-member", group)
  return [...found]
    .map(([userId, { paths, groups }]) => ({ userId, paths: [...paths].sort(), groups: [...groups].sort() }))
    .sort((a, b) => (a.userId < b.userId ? -1 : 1))
}
