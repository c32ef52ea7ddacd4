import { enterpriseRoles, proRoles } from "./tier.ts"

/** The licence in force, as `GET /license` shows it. */
export interface License {
  readonly entitlements: readonly string[]
  readonly licensedTo: string
  readonly active: boolean
  readonly message: string
  readonly expiresAt: Date | undefined
}

export const entitles = (license: License, entitlement: string): boolean =>
  license.active && license.entitlements.includes(entitlement)

/** Whether the licence is one of subscribers; a community licence is not. */
export const subscribes = (license: License): boolean => entitles(license, proRoles) || entitles(license, enterpriseRoles)
