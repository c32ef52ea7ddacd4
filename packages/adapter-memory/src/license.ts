import { entitlementsOf, type License } from "@rangewright/domain"
import { LicenseProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A licence that never changes. */
export const licenseLayer = (license: License): Layer.Layer<LicenseProvider> =>
  Layer.succeed(LicenseProvider, { current: Effect.succeed(license) })

/** The default: a self-hosted instance is entitled to everything. */
export const openLicense: License = {
  entitlements: entitlementsOf("enterprise"),
  everything: true,
  licensedTo: "",
  active: true,
  message: "open: everything is included",
  expiresAt: undefined,
}

/** What a community licence of Ludus includes: only the common operations. For tests of tiers. */
export const communityLicense: License = {
  entitlements: entitlementsOf("community"),
  licensedTo: "",
  active: true,
  message: "community licence",
  expiresAt: undefined,
}
