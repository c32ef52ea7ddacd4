import { type Blueprint, type Fault, type InstallPlan, subscribes, type User } from "@rangewright/domain"
import { type ArtifactLibrary, type Blueprints, LicenseProvider, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { mayUploadArtifacts } from "../ansible/may-change.ts"
import { RunEngine } from "@rangewright/run-engine"
import type { Settings } from "../settings.ts"
import { type ItemOutcome, itemFailed } from "../source/item-outcome.ts"
import type { SourceContents } from "../source/source-contents.ts"
import { startAfterOthers } from "../source/start-after-others.ts"
import { concludeDependencies } from "./conclude-dependencies.ts"
import { blueprintInstall, dependencyOutcomes } from "./dependency-run.ts"
import { blueprintSubject } from "./forget-blueprint.ts"
import { type DependencyChoice, planDependencies, stillToInstall } from "./plan-dependencies.ts"

export type DependencyServices =
  | ArtifactLibrary
  | Blueprints
  | LicenseProvider
  | RunEngine
  | SourceContents
  | SubscriptionProvider

const noSubscription =
  "subscription roles need a licence that includes them, and a registry that offers them; nothing was installed for this blueprint"

/**
 * Why nothing of a blueprint with subscription roles can be installed: an incomplete installation would look complete. Undefined: it can
 * be.
 */
const subscriptionObstacle = ({ subscriptionRoles }: InstallPlan) =>
  Effect.gen(function* () {
    const licenses = yield* LicenseProvider
    const registry = yield* SubscriptionProvider
    if (subscriptionRoles.length === 0) return undefined
    const license = yield* licenses.current
    if (!subscribes(license)) return noSubscription
    const offered = yield* Effect.result(registry.list)
    if (Result.isFailure(offered)) return offered.failure.message
    return offered.success.length === 0 ? noSubscription : undefined
  })

const presentOnes = ({ subscriptionRoles }: InstallPlan): readonly ItemOutcome[] =>
  subscriptionRoles.flatMap(({ name, there }) =>
    there ? [{ kind: "subscription_role", name, ok: true, text: `${name} is already installed, skipping` } as const] : [],
  )

const isNothing = ({ artifacts, roles, collections, subscriptionRoles }: InstallPlan): boolean =>
  artifacts.length + roles.length + collections.length + subscriptionRoles.length === 0

/** Installs in a run of the blueprint, which continues without its caller. */
const runInstall = (blueprint: Blueprint, choice: DependencyChoice) =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    const request = blueprintInstall.request(blueprintSubject(blueprint), { recordId: blueprint.recordId, ...choice })
    const { id } = yield* startAfterOthers(request, choice.user)
    return dependencyOutcomes(yield* engine.wait(id))
  })

/**
 * Installs a blueprint's requirements, and records on it how that ended. A requirement that is not available is an outcome; only a store
 * that does not work is a fault.
 */
export const installDependencies = (
  blueprint: Blueprint,
  choice: DependencyChoice,
): Effect.Effect<readonly ItemOutcome[], Fault, DependencyServices> =>
  Effect.gen(function* () {
    const plan = yield* planDependencies(blueprint, choice)
    const left = stillToInstall(plan)
    const obstacle = yield* subscriptionObstacle(left)
    if (obstacle === undefined && !isNothing(left)) return [...presentOnes(plan), ...(yield* runInstall(blueprint, choice))]
    const outcomes = obstacle === undefined ? presentOnes(plan) : [itemFailed("subscription_role", "", obstacle)]
    yield* concludeDependencies(blueprint, outcomes)
    return outcomes
  }).pipe(
    Effect.catchIf(
      (fault) => fault._tag !== "StorageFault",
      (fault) => {
        const outcomes = [itemFailed("role", "", fault.message)]
        return Effect.as(concludeDependencies(blueprint, outcomes), outcomes)
      },
    ),
  )

/**
 * The same for a new blueprint, as far as the user may install things and they are available; never fails the creation. No outcomes when
 * there is nothing to install.
 */
export const installForNew = (
  blueprint: Blueprint,
  user: User,
): Effect.Effect<readonly ItemOutcome[], never, DependencyServices | Settings> =>
  Effect.andThen(
    mayUploadArtifacts(user, { global: false }),
    installDependencies(blueprint, { user: user.id, userRecord: user.recordId, global: false, force: false }),
  ).pipe(
    Effect.catchTag("Forbidden", () => Effect.succeed([])),
    Effect.catch((fault) => Effect.as(Effect.logWarning(fault.message), [])),
  )
