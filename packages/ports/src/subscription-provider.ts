import type { PackageId, SubscriptionRole } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ArtifactEntry } from "./artifact-library.ts"
import type { SubscriptionFault } from "./faults.ts"

/**
 * The registry of subscription roles. Everything it returns was fully verified against a key that the operator configured; unverified
 * content is a fault, never a shorter list. Who may install which role is not checked here (`mayInstallRole`).
 */
export class SubscriptionProvider extends Context.Service<
  SubscriptionProvider,
  {
    /** The roles on offer, sorted by name, with unique names. Empty if there is no registry. */
    readonly list: Effect.Effect<readonly SubscriptionRole[], SubscriptionFault>
    /** When the list was created; undefined if there is no registry. A very old list may mean that somebody withholds a newer one. */
    readonly issuedAt: Effect.Effect<Date | undefined, SubscriptionFault>
    /** The files of a package in the list, sorted by path; at least one. `not-found` if no package has this id. */
    readonly fetch: (packageId: PackageId) => Effect.Effect<readonly ArtifactEntry[], SubscriptionFault>
  }
>()("rangewright/SubscriptionProvider") {}
