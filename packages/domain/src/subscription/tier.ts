/** What a licence of one tier includes beside everything of the lower ones. */
export type Tier = "community" | "professional" | "enterprise"

/** Entitlement that operations of the enterprise tier need. */
export const enterpriseEntitlement = "ENTERPRISE_PLUGIN"
/** Entitlements that subscription roles name. */
export const proRoles = "PRO_ROLES"
export const enterpriseRoles = "ENTERPRISE_ROLES"

const included: Record<Tier, readonly string[]> = {
  community: [],
  professional: [proRoles],
  enterprise: [enterpriseEntitlement, proRoles, enterpriseRoles],
}

/** From the least to the one that includes all. */
export const tiers: readonly Tier[] = ["community", "professional", "enterprise"]

/** The entitlements of a tier; a tier has all those of the tiers below it. */
export const entitlementsOf = (tier: Tier): readonly string[] => included[tier]
