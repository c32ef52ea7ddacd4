/** Roles: installed, and their dependencies resolvable (contract B 3.9, 11, and 3.10). */
import * as Result from "effect/Result"
import type { CheckContext, InstalledRoles } from "./check-context.ts"
import { quote } from "./issue.ts"
import type { RoleUse } from "./model.ts"
import type { Path } from "./node.ts"
import { resolveRoleOrder } from "./roles.ts"

export const roleChecks = ({ config, facts, error }: CheckContext): void => {
  const { roles } = facts
  const installed = (uses: ReadonlyArray<RoleUse>, base: Path): void => {
    if (roles === undefined) return
    const require = (path: Path, role: string): void => {
      if (!hasRole(roles, role))
        error(path, "role-not-installed", `the role ${quote(role)} is not installed`, "an installed role or collection")
    }
    for (const [index, use] of uses.entries()) {
      require([...base, "roles", index], use.name)
      for (const [at, { role }] of use.dependsOn.entries()) require([...base, "roles", index, "depends_on", at, "role"], role)
    }
  }
  installed(config.router.roles, ["router"])
  for (const [index, machine] of config.machines.entries()) installed(machine.roles, ["ludus", index])

  const order = resolveRoleOrder(config, facts.rangeId)
  if (Result.isFailure(order)) for (const { path, code, message } of order.failure) error(path, code, message)
}

/** Whether a role is there: `namespace.collection.role` is with its collection, any role by itself. */
export const hasRole = ({ names, collections }: InstalledRoles, role: string): boolean => {
  const [namespace, collection, ...rest] = role.split(".")
  return names.has(role) || (rest.length === 1 && collections.has(`${namespace}.${collection}`))
}
