import { type Blueprint, hasRole, type NeededTemplate, readReferences, readRequirements, type User } from "@rangewright/domain"
import { ArtifactLibrary, Blueprints, GuestAutomation, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { longWork } from "../operation/long-work.ts"
import { neededTemplates } from "../template/needed-templates.ts"

/** What a blueprint needs, and whether it is installed. */
export interface Readiness {
  readonly templates: readonly NeededTemplate[]
  readonly roles: readonly { readonly name: string; readonly installed: boolean; readonly subscription: boolean }[]
}

/**
 * The roles and collections that are installed for the user, and the roles that the guest automation can run. None when they cannot be
 * read.
 */
const installedFor = (user: User) =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const guests = yield* GuestAutomation
    const own = yield* library.list({ type: "user", userId: user.id })
    const everybodys = yield* library.list({ type: "global" })
    const known = yield* guests.roles(user.id)
    return {
      names: new Set([...[...own.roles, ...everybodys.roles].map(({ name }) => name), ...(known ?? [])]),
      collections: new Set([...own.collections, ...everybodys.collections].map(({ name }) => name)),
    }
  }).pipe(Effect.orElseSucceed(() => ({ names: new Set<string>(), collections: new Set<string>() })))

/** Subscription roles: those that the blueprint declares, and those that the registry offers. */
const subscriptionRoles = (blueprint: Blueprint) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const registry = yield* SubscriptionProvider
    const text = (yield* blueprints.requirements(blueprint.id)) ?? ""
    const declared = yield* longWork(() => readRequirements(text))
    const offered = yield* registry.list.pipe(Effect.orElseSucceed(() => []))
    return new Set([...declared.requirements.subscriptionRoles, ...offered.map(({ role }) => role)])
  })

/**
 * The templates and roles that the blueprint's configuration names, ascending, for this user. What cannot be determined counts as not
 * installed; the hypervisor is not asked. A configuration that cannot be read names nothing.
 */
export const readinessOf = (blueprint: Blueprint, user: User) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const config = (yield* blueprints.config(blueprint.id)) ?? ""
    const references = yield* longWork(() => readReferences(config))
    if (Result.isFailure(references)) return { templates: [], roles: [] } satisfies Readiness
    const { templates, roles } = references.success
    const needed = yield* neededTemplates(user)
    if (roles.length === 0) return { templates: templates.map(needed), roles: [] } satisfies Readiness
    const installed = yield* installedFor(user)
    const subscription = yield* subscriptionRoles(blueprint)
    return {
      templates: templates.map(needed),
      roles: roles.map((name) => ({ name, installed: hasRole(installed, name), subscription: subscription.has(name) })),
    } satisfies Readiness
  })
