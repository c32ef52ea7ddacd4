/** The tiers of licenses; each includes everything in the lower ones. */
export type Tier = "community" | "professional" | "enterprise"

/** Entitlement that operations of the enterprise tier require. */
export const enterpriseEntitlement = "ENTERPRISE_PLUGIN"
/** Entitlements used by subscription roles. */
export const proRoles = "PRO_ROLES"
export const enterpriseRoles = "ENTERPRISE_ROLES"

const included: Record<Tier, readonly string[]> = {
  community: [],
  professional: [proRoles],
  enterprise: [enterpriseEntitlement, proRoles, enterpriseRoles],
}

/** From the lowest to the highest. */
export const tiers: readonly Tier[] = ["community", "professional", "enterprise"]

/** The entitlements of a tier, including those of the tiers below it. */
export const entitlementsOf = (tier: Tier): readonly string[] => included[tier]
