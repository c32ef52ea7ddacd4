import type { Brand } from "effect/Brand"
import { entitles, type License } from "./license.ts"
import { enterpriseRoles, type Tier, proRoles } from "./tier.ts"

/** A role that subscribers may install, as the registry's index tells it (specification 2.4). */
export interface SubscriptionRole {
  /** Also the name it is installed under. */
  readonly role: string
  /** Three numbers separated by dots. */
  readonly version: string
  readonly description: string
  readonly fileCount: number
  /** Whole seconds. */
  readonly lastModified: Date
  readonly packageId: PackageId
  /** At least one. */
  readonly entitlements: readonly string[]
  readonly package: PackageFacts
}

/** UUID of one version of one role, in lower case. The same id always means the same bytes. */
export type PackageId = string & Brand<"PackageId">

/** What the file of a package must be. */
export interface PackageFacts {
  readonly bytes: number
  /** SHA-256 of the file, 64 hexadecimal digits in lower case. */
  readonly sha256: string
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

export const isPackageId = (text: string): text is PackageId => uuid.test(text)

/**
 * The least tier that a role is for: `PRO_ROLES` opens it to professional licences, with or without `ENTERPRISE_ROLES` beside it;
 * `ENTERPRISE_ROLES` alone is for enterprise ones only. Undefined where it names neither: then only a licence that names the same does.
 */
export const tierOfRole = ({ entitlements }: Pick<SubscriptionRole, "entitlements">): Exclude<Tier, "community"> | undefined => {
  if (entitlements.includes(proRoles)) return "professional"
  return entitlements.includes(enterpriseRoles) ? "enterprise" : undefined
}

/** Whether the licence opens the role. Everybody may list all roles, also on a community licence. */
export const mayInstallRole = (license: License, role: Pick<SubscriptionRole, "entitlements">): boolean =>
  role.entitlements.some((entitlement) => entitles(license, entitlement)) ||
  (tierOfRole(role) === "professional" && entitles(license, enterpriseRoles))
