import type { GroupMember, GroupName } from "../access/group.ts"
import type { UserId } from "../access/ids.ts"
import type { User } from "../access/user.ts"
import type { Blueprint } from "./blueprint.ts"

/** How a user comes to read a blueprint; of several ways the first of these. */
export type BlueprintAccess = "admin" | "owner" | "direct" | "group"

/** Undefined: the user may not read it. `groups`: those the user is in, as member or manager. */
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

/** Whether a user who comes to the blueprint this way may change or delete it. Sharing never gives that. */
export const mayChangeBlueprint = (access: BlueprintAccess | undefined): boolean => access === "admin" || access === "owner"

/** A way by which a user who is no administrator reads a blueprint. */
export type BlueprintPath = "direct" | "group-manager" | "group-member" | "owner"

/** A user who reads a blueprint, with every way. */
export interface BlueprintReader {
  readonly userId: UserId
  /** Ascending, each once. */
  readonly paths: readonly BlueprintPath[]
  /** The groups that give it, ascending. */
  readonly groups: readonly GroupName[]
}

/** Everybody who reads the blueprint without being an administrator, ascending by id. `members`: those of each group it is shared with. */
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
