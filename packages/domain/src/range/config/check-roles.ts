/** Roles: valid names, installed, resolvable dependencies, and variables that Ansible accepts. */
import * as Result from "effect/Result"
import { allowedNames } from "../../library/artifact.ts"
import { allowedVariableNames, isVariableName } from "../../library/variable-name.ts"
import { isRoleName } from "../../source/names.ts"
import type { CheckContext, InstalledRoles } from "./check-context.ts"
import { quote } from "./issue.ts"
import type { JsonObject, RoleUse } from "./model.ts"
import type { Path } from "./node.ts"
import { resolveRoleOrder } from "./roles.ts"
import { similar } from "./similar.ts"

export const roleChecks = ({ config, facts, error }: CheckContext): void => {
  const { roles } = facts
  const didYouMean = suggestions(roles)
  const variables = (vars: JsonObject, path: Path): void => {
    for (const name of Object.keys(vars))
      if (!isVariableName(name))
        error([...path, name], "variable-name", `${quote(name)} is not a valid Ansible variable name`, allowedVariableNames)
  }
  const installed = (uses: ReadonlyArray<RoleUse>, base: Path): void => {
    for (const [index, use] of uses.entries())
      if (!isRoleName(use.name))
        error([...base, "roles", index], "role-name", `a role cannot be named ${quote(use.name)}`, allowedNames.role)
    if (roles === undefined) return
    const require = (path: Path, role: string): void => {
      if (isRoleName(role) && !hasRole(roles, role))
        error(
          path,
          "role-not-installed",
          `the role ${quote(role)} does not exist on the Ludus server${didYouMean(role)}`,
          "an installed role or collection",
        )
    }
    for (const [index, use] of uses.entries()) {
      require([...base, "roles", index], use.name)
      for (const [at, { role }] of use.dependsOn.entries()) require([...base, "roles", index, "depends_on", at, "role"], role)
    }
  }
  variables(config.globalRoleVars, ["global_role_vars"])
  variables(config.router.roleVars, ["router", "role_vars"])
  for (const [index, machine] of config.machines.entries()) variables(machine.roleVars, ["ludus", index, "role_vars"])
  installed(config.router.roles, ["router"])
  for (const [index, machine] of config.machines.entries()) installed(machine.roles, ["ludus", index])

  const order = resolveRoleOrder(config, facts.rangeId)
  if (Result.isFailure(order)) for (const { path, code, message } of order.failure) error(path, code, message)
}

/** How many unknown names are compared with all installed ones: there may be thousands of either. */
const mostCompared = 5

/** A role of a source is named by its author and its folder, but people write the folder alone; otherwise it may be a typo. */
const suggestions = (roles: InstalledRoles | undefined): ((role: string) => string) => {
  const told = new Map<string, string>()
  return (role) => {
    const known = told.get(role)
    if (known !== undefined || roles === undefined || told.size >= mostCompared) return known ?? ""
    const installed = [...roles.names]
    const near = installed.find((name) => name.endsWith(`.${role}`)) ?? similar(role, installed)
    const text = near === undefined ? "" : `; did you mean ${quote(near)}?`
    told.set(role, text)
    return text
  }
}

/** Whether a role is installed: `namespace.collection.role` comes with its collection, any role by itself. */
export const hasRole = ({ names, collections }: InstalledRoles, role: string): boolean => {
  const [namespace, collection, ...rest] = role.split(".")
  return names.has(role) || (rest.length === 1 && collections.has(`${namespace}.${collection}`))
}
