import { enterpriseEntitlement } from "./tier.ts"

/** The licence in force, as `GET /license` shows it. */
export interface License {
  readonly entitlements: readonly string[]
  /** It has every entitlement there is, also those of an organisation's own. */
  readonly everything?: true
  readonly licensedTo: string
  readonly active: boolean
  readonly message: string
  readonly expiresAt: Date | undefined
}

export const entitles = (license: License, entitlement: string): boolean =>
  license.active && (license.everything === true || license.entitlements.includes(entitlement))

/** Whether the licence opens roles of some kind: a community licence does not, but with an entitlement of an organisation's own. */
export const subscribes = (license: License): boolean =>
  license.active &&
  (license.everything === true || license.entitlements.some((entitlement) => entitlement !== enterpriseEntitlement))
