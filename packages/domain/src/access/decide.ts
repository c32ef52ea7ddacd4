import type { Grant, RangeAccess, User } from "./user.ts"

/**
 * Whether a user with these grants on a range has this access. Administrators always do. A group's manager has owner access to the group's
 * ranges.
 */
export const mayUse = (
  access: RangeAccess,
  user: Pick<User, "id" | "isAdmin">,
  grants: readonly Pick<Grant, "userId" | "accessType">[],
): boolean => {
  if (user.isAdmin) return true
  const own = grants.filter((g) => g.userId === user.id).map((g) => g.accessType)
  switch (access) {
    case "range-access":
      return own.length > 0
    case "range-owner":
      return own.includes("Direct") || own.includes("Group Manager")
  }
}
