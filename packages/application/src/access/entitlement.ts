import { EntitlementMissing, enterpriseEntitlement, entitles } from "@rangewright/domain"
import { LicenseProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Fails unless the licence in force includes what operations of the enterprise tier need. `doing` completes "Cannot …". */
export const requireEntitlement = Effect.fnUntraced(function* (doing: string) {
  const licenses = yield* LicenseProvider
  if (!entitles(yield* licenses.current, enterpriseEntitlement))
    return yield* new EntitlementMissing({ doing, entitlement: enterpriseEntitlement })
})
