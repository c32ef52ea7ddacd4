import type { PackageId, SubscriptionRole } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ArtifactEntry } from "./artifact-library.ts"
import type { SubscriptionFault } from "./faults.ts"

/**
 * The registry of roles for subscribers. Everything it gives was signed by a key that the operator named, to the last byte: what was not
 * is a fault, never a shorter list. Who may install which role is not asked here (`mayInstallRole`).
 */
export class SubscriptionProvider extends Context.Service<
  SubscriptionProvider,
  {
    /** The roles on offer, sorted by name, no two of one name. None where there is no registry. */
    readonly list: Effect.Effect<readonly SubscriptionRole[], SubscriptionFault>
    /** When the list was made; undefined where there is no registry. One that is very old may be shown by who withholds a newer one. */
    readonly issuedAt: Effect.Effect<Date | undefined, SubscriptionFault>
    /** The files of a package of the list, sorted by path; there is at least one. `not-found` where the list has none of this id. */
    readonly fetch: (packageId: PackageId) => Effect.Effect<readonly ArtifactEntry[], SubscriptionFault>
  }
>()("rangewright/SubscriptionProvider") {}
