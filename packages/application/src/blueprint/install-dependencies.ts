import {
  type Blueprint,
  type Fault,
  installationOf,
  type InstallItemKind,
  sayFailures,
  subscribes,
  type User,
} from "@rangewright/domain"
import {
  type ArtifactLibrary,
  Blueprints,
  type ContentFetcher,
  LicenseProvider,
  type RoleInstaller,
  type Sources,
  SubscriptionProvider,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { mayChangeArtifacts } from "../ansible/may-change.ts"
import type { Settings } from "../settings.ts"
import { installArtifact } from "../source/install-artifact.ts"
import { installRequirements } from "../source/install-requirements.ts"
import { scopeFor } from "../source/installation.ts"
import { failuresAmong, type ItemOutcome, itemFailed } from "../source/item-outcome.ts"
import { SourceContents } from "../source/source-contents.ts"
import { installSubscriptionRoles } from "../subscription/install-roles.ts"
import { type DependencyPlan, type DependencyWish, planDependencies } from "./plan-dependencies.ts"

export type DependencyServices =
  | ArtifactLibrary
  | Blueprints
  | ContentFetcher
  | LicenseProvider
  | RoleInstaller
  | SourceContents
  | Sources
  | SubscriptionProvider

const noSubscription =
  "subscription roles need a licence that includes them, and a registry that offers them; nothing of this blueprint was installed"

/**
 * Why nothing of a blueprint with subscription roles can be installed (contract C 6.6): an installation with holes would look like one
 * without. Undefined: it can.
 */
const subscriptionObstacle = ({ subscriptionRoles }: DependencyPlan) =>
  Effect.gen(function* () {
    if (subscriptionRoles.every(({ there }) => there)) return undefined
    const license = yield* (yield* LicenseProvider).current
    if (!subscribes(license)) return noSubscription
    const offered = yield* Effect.result((yield* SubscriptionProvider).list)
    if (offered._tag === "Failure") return offered.failure.message
    return offered.success.length === 0 ? noSubscription : undefined
  })

/** They are for everybody, and never replaced (contract C 6.6). */
const subscriptionOutcomes = ({ subscriptionRoles }: DependencyPlan) =>
  Effect.gen(function* () {
    const present = subscriptionRoles.flatMap(({ name, there }): readonly ItemOutcome[] =>
      there ? [{ kind: "subscription_role", name, ok: true, text: `${name} is already installed, skipping` }] : [],
    )
    const names = subscriptionRoles.flatMap(({ name, there }) => (there ? [] : [name]))
    const target = { scope: { type: "global" }, force: false } as const
    const license = yield* (yield* LicenseProvider).current
    const brought = yield* installSubscriptionRoles(names, license, target).pipe(
      Effect.map((outcomes) =>
        outcomes.map((outcome): ItemOutcome =>
          "refused" in outcome
            ? itemFailed("subscription_role", outcome.role, outcome.refused)
            : { kind: "subscription_role", name: outcome.role, version: outcome.version, ok: true },
        ),
      ),
      Effect.catch((fault) => Effect.succeed([itemFailed("subscription_role", "", fault.message)])),
    )
    return [...present, ...brought]
  })

/** Clients know three kinds of what a blueprint requires; what its source ships is one of them to them. */
const asRequired: Partial<Record<InstallItemKind, InstallItemKind>> = { local_role: "role", local_collection: "collection" }

/** Carries a plan out; an item that fails leaves the others. May be repeated. */
const carryOut = (blueprint: Blueprint, plan: DependencyPlan, wish: DependencyWish) =>
  Effect.gen(function* () {
    const obstacle = yield* subscriptionObstacle(plan)
    if (obstacle !== undefined) return [itemFailed("subscription_role", "", obstacle)]
    // a record that is no source's claims nothing
    const source = { recordId: blueprint.origin?.source ?? blueprint.recordId }
    const outcomes: ItemOutcome[] = []
    if (blueprint.bundle !== undefined && plan.artifacts.length > 0) {
      const content = yield* (yield* SourceContents).ofId(blueprint.bundle.snapshot)
      for (const artifact of plan.artifacts)
        outcomes.push(yield* installArtifact({ ...wish, source, content }, artifact, wish.force))
    }
    for (const wanted of [
      { type: "role", planned: plan.roles },
      { type: "collection", planned: plan.collections },
    ] as const)
      outcomes.push(...(yield* installRequirements(source.recordId, scopeFor(wanted.type, wish), wanted, wish.force)))
    outcomes.push(...(yield* subscriptionOutcomes(plan)))
    return outcomes.map((outcome) => ({ ...outcome, kind: asRequired[outcome.kind] ?? outcome.kind }))
  })

/**
 * Installs what a blueprint requires, and notes on it how that ended (contract C 11.13, 12.5). What cannot be had is an outcome of its
 * own; only a store that does not work is a fault.
 */
export const installDependencies = (
  blueprint: Blueprint,
  wish: DependencyWish,
): Effect.Effect<readonly ItemOutcome[], Fault, DependencyServices> =>
  Effect.gen(function* () {
    const outcomes = yield* planDependencies(blueprint, wish).pipe(
      Effect.flatMap((plan) => carryOut(blueprint, plan, wish)),
      Effect.catchIf(
        (fault) => fault._tag !== "StorageFault",
        (fault) => Effect.succeed([itemFailed("role", "", fault.message)]),
      ),
    )
    const lines = failuresAmong(outcomes).map((failure) => sayFailures([failure]))
    const at = new Date(yield* Clock.currentTimeMillis)
    yield* (yield* Blueprints).setInstallation(blueprint.id, installationOf(lines, at))
    return outcomes
  })

/**
 * The same for a blueprint that was just made, as far as the user may and it can be had: making it never fails by it (contract C 16). No
 * outcomes where there is nothing to install.
 */
export const installForNew = (
  blueprint: Blueprint,
  user: User,
): Effect.Effect<readonly ItemOutcome[], never, DependencyServices | Settings> =>
  Effect.andThen(
    mayChangeArtifacts(user, { global: false }),
    installDependencies(blueprint, { user: user.id, global: false, force: false }),
  ).pipe(
    Effect.catchTag("Forbidden", () => Effect.succeed([])),
    Effect.catch((fault) => Effect.as(Effect.logWarning(fault.message), [])),
  )
