import { configurationError, parseRangeConfig } from "@rangewright/domain/range"
import {
  type License,
  mayInstallRole,
  readSubscriptionIndex,
  type SubscriptionRole,
  type Tier,
  tierOfRole,
} from "@rangewright/domain/subscription"
import * as Result from "effect/Result"
import { invalid, requireKinds } from "./invalid.ts"

export interface RolesToResolve {
  /** The registry's index: its text, with a signature that the caller has verified, or the roles in it. */
  readonly index: string | readonly SubscriptionRole[]
  readonly license: Pick<License, "entitlements" | "active"> & Partial<License>
  /** Names of roles, or a configuration that names them. */
  readonly wanted: readonly string[] | { readonly configuration: string }
}

/** A requested role that the subscription registry offers. */
export interface ResolvedRole {
  readonly name: string
  readonly version: string
  /** The lowest tier that includes it; undefined: only licenses that name one of its own entitlements include it. */
  readonly tier: Tier | undefined
  /** Whether the license includes it. */
  readonly mayInstall: boolean
  readonly role: SubscriptionRole
}

const isConfiguration = (wanted: RolesToResolve["wanted"]): wanted is { readonly configuration: string } => !Array.isArray(wanted)

const namesIn = (wanted: RolesToResolve["wanted"]): readonly string[] => {
  if (!isConfiguration(wanted)) return wanted
  const { configuration } = wanted
  requireKinds("resolveSubscriptionRoles: wanted", { configuration }, { configuration: "text" })
  const parsed = parseRangeConfig(configuration)
  if (Result.isFailure(parsed)) return invalid(configurationError(parsed.failure))
  const { machines, router } = parsed.success.config
  return [...machines, router].flatMap(({ roles }) => roles.map(({ name }) => name))
}

/**
 * The requested roles that come from the subscription registry, and whether the license includes them; in the requested order, each once.
 * Roles that the registry does not offer are left out. Throws `InvalidInputError` for an index or a configuration that cannot be read.
 */
export const resolveSubscriptionRoles = (roles: RolesToResolve): readonly ResolvedRole[] => {
  requireKinds("resolveSubscriptionRoles", { "its argument": roles }, { "its argument": "object" })
  const { index, license, wanted } = roles
  requireKinds(
    "resolveSubscriptionRoles",
    { index, license, wanted },
    {
      index: typeof index === "string" ? "text" : "objects",
      license: "object",
      wanted: Array.isArray(wanted) ? "texts" : "object",
    },
  )
  if (typeof index !== "string")
    for (const [at, { role, version, entitlements }] of index.entries())
      requireKinds(
        `resolveSubscriptionRoles: index[${at}]`,
        { role, version, entitlements },
        { role: "text", version: "text", entitlements: "texts" },
      )
  const { active, entitlements } = license
  requireKinds("resolveSubscriptionRoles: license", { active, entitlements }, { active: "flag", entitlements: "texts" })
  const read = typeof index === "string" ? readSubscriptionIndex(index) : undefined
  if (read !== undefined && Result.isFailure(read)) return invalid(`Cannot read the registry's index: ${read.failure}`)
  const offered = new Map((read?.success.roles ?? (index as readonly SubscriptionRole[])).map((role) => [role.role, role]))
  const inForce: License = { licensedTo: "", message: "", expiresAt: undefined, ...license }
  return [...new Set(namesIn(wanted))].flatMap((name) => {
    const role = offered.get(name)
    if (role === undefined) return []
    return [{ name, version: role.version, tier: tierOfRole(role), mayInstall: mayInstallRole(inForce, role), role }]
  })
}
