import { enterpriseEntitlement } from "./tier.ts"

/** The license in force, as `GET /license` shows it. */
export interface License {
  readonly entitlements: readonly string[]
  /** It includes every entitlement, even those that organizations define themselves. */
  readonly everything?: true
  readonly licensedTo: string
  readonly active: boolean
  readonly message: string
  readonly expiresAt: Date | undefined
}

export const entitles = (license: License, entitlement: string): boolean =>
  license.active && (license.everything === true || license.entitlements.includes(entitlement))

/** Whether the license includes any subscription roles: a community license does only through additional entitlements. */
export const subscribes = (license: License): boolean =>
  license.active &&
  (license.everything === true || license.entitlements.some((entitlement) => entitlement !== enterpriseEntitlement))
