import type { Brand } from "effect/Brand"
import { entitles, type License } from "./license.ts"
import { enterpriseRoles, type Tier, proRoles } from "./tier.ts"

/** A subscription role as listed in the registry's index (specification 2.4). */
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

/** The required properties of a package's file. */
export interface PackageFacts {
  readonly bytes: number
  /** SHA-256 of the file, 64 hexadecimal digits in lower case. */
  readonly sha256: string
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u

export const isPackageId = (text: string): text is PackageId => uuid.test(text)

/**
 * The lowest tier that includes a role: `PRO_ROLES` means professional, with or without `ENTERPRISE_ROLES`; `ENTERPRISE_ROLES` alone means
 * enterprise. Undefined if it names neither: then only a license with one of the same entitlements includes it.
 */
export const tierOfRole = ({ entitlements }: Pick<SubscriptionRole, "entitlements">): Exclude<Tier, "community"> | undefined => {
  if (entitlements.includes(proRoles)) return "professional"
  return entitlements.includes(enterpriseRoles) ? "enterprise" : undefined
}

/** Whether the license includes the role. Everybody may list all roles, even with a community license. */
export const mayInstallRole = (license: License, role: Pick<SubscriptionRole, "entitlements">): boolean =>
  role.entitlements.some((entitlement) => entitles(license, entitlement)) ||
  (tierOfRole(role) === "professional" && entitles(license, enterpriseRoles))
