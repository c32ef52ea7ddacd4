import { Forbidden, type License, mayInstallRole, subscribes, type SubscriptionRole, tierOfRole } from "@rangewright/domain"
import {
  ArtifactLibrary,
  LicenseProvider,
  type LibraryScope,
  type PlaceOutcome,
  type SubscriptionFault,
  SubscriptionProvider,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { reasonOf } from "../wire/bulk.ts"

/** The outcome for one role. `version` is that of the offer; if the placement is `differs`, another copy stays in its place. */
export type RoleOutcome =
  | { readonly role: string; readonly version: string; readonly placement: PlaceOutcome }
  | { readonly role: string; readonly refused: string }

/** Roles of one request that are installed concurrently: each is held in memory until it is placed. */
const atOnce = 2

/** The licence in force; fails unless it includes subscriptions. */
export const requireSubscription: Effect.Effect<License, Forbidden, LicenseProvider> = Effect.gen(function* () {
  const licenses = yield* LicenseProvider
  const license = yield* licenses.current
  if (subscribes(license)) return license
  return yield* new Forbidden({
    reason: license.active
      ? `Cannot install subscription roles: the licence in force (${license.message}) does not include them`
      : `Cannot install subscription roles: ${license.message}`,
    hint: "GET /license shows it. An administrator can configure a professional or enterprise licence; roles from Galaxy, git and archives need none.",
  })
})

const notIncluded = (role: SubscriptionRole): string =>
  `Cannot install ${role.role}: the licence in force does not include it. It is for ${
    tierOfRole(role) === "professional"
      ? "professional and enterprise licences"
      : `licences with ${role.entitlements.join(" or ")}`
  }`

const installOne = (
  name: string,
  offered: ReadonlyMap<string, SubscriptionRole>,
  license: License,
  target: { readonly scope: LibraryScope; readonly force: boolean },
): Effect.Effect<RoleOutcome, never, ArtifactLibrary | SubscriptionProvider> =>
  Effect.gen(function* () {
    const registry = yield* SubscriptionProvider
    const library = yield* ArtifactLibrary
    const role = offered.get(name)
    if (role === undefined)
      return {
        role: name,
        refused: `Cannot install ${name.slice(0, 255)}: no such role is on offer. GET /ansible/subscription-roles lists those that are`,
      }
    if (!mayInstallRole(license, role)) return { role: name, refused: notIncluded(role) }
    const entries = yield* registry.fetch(role.packageId)
    const placement = yield* library.place({ scope: target.scope, kind: "role", name }, entries, {
      version: role.version,
      description: role.description,
      replace: target.force,
    })
    return { role: name, version: role.version, placement }
  }).pipe(Effect.catch((fault) => Effect.succeed({ role: name, refused: reasonOf(fault) })))

/**
 * Installs roles of the registry, each completely or not at all; a failed one does not affect the others. Without `force` an installed copy
 * stays, whatever its version. The outcomes are in the order of the names. Fails if the registry cannot be read.
 */
export const installSubscriptionRoles = (
  names: readonly string[],
  license: License,
  target: { readonly scope: LibraryScope; readonly force: boolean },
): Effect.Effect<readonly RoleOutcome[], SubscriptionFault, ArtifactLibrary | SubscriptionProvider> =>
  Effect.gen(function* () {
    const registry = yield* SubscriptionProvider
    if (names.length === 0) return []
    const offered = new Map((yield* registry.list).map((role) => [role.role, role]))
    return yield* Effect.forEach(names, (name) => installOne(name, offered, license, target), { concurrency: atOnce })
  })
