/** The licence in force, as `GET /license` shows it. */
export interface License {
  readonly entitlements: readonly string[]
  readonly licensedTo: string
  readonly active: boolean
  readonly message: string
  readonly expiresAt: Date | undefined
}

/** Entitlement that operations of the enterprise tier need. */
export const enterpriseEntitlement = "ENTERPRISE_PLUGIN"

export const entitles = (license: License, entitlement: string): boolean =>
  license.active && license.entitlements.includes(entitlement)
