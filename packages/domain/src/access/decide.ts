import type { Access, Grant, User } from "./user.ts"

/** Whether a user with these grants on a range gets through. Admins always do; the caller of an operation checks `anonymous` before. */
export const mayUse = (
  access: Access,
  user: Pick<User, "id" | "isAdmin">,
  grants: readonly Pick<Grant, "userId" | "accessType">[],
): boolean => {
  if (access === "anonymous" || access === "user" || user.isAdmin) return true
  const own = grants.filter((g) => g.userId === user.id).map((g) => g.accessType)
  switch (access) {
    case "range-access":
      return own.length > 0
    case "range-owner":
    case "group-manager":
      return own.includes("Direct") || own.includes("Group Manager")
    case "admin":
      return false
  }
}
