import type { License } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** The license in force. */
export class LicenseProvider extends Context.Service<LicenseProvider, { readonly current: Effect.Effect<License> }>()(
  "rangewright/LicenseProvider",
) {}
