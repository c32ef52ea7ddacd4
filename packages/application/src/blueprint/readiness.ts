import {
  type Blueprint,
  hasRole,
  isFinishedTemplate,
  readReferences,
  readRequirements,
  type TemplateState,
  unbuilt,
  type User,
} from "@rangewright/domain"
import { ArtifactLibrary, Blueprints, GuestAutomation, Machines, Ranges, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { listTemplates } from "../template/list-templates.ts"

/** What a blueprint needs, and whether it is there. */
export interface Readiness {
  readonly templates: readonly {
    readonly name: string
    readonly built: boolean
    /** `missing`: this user has no files that it could be built from. */
    readonly status: TemplateState | "missing"
  }[]
  readonly roles: readonly { readonly name: string; readonly installed: boolean; readonly subscription: boolean }[]
}

/** The roles and collections that are installed for the user, or that machines can be given without. */
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

/** Roles for subscribers: those that the blueprint says are, and those on offer. */
const subscriptionRoles = (blueprint: Blueprint) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const registry = yield* SubscriptionProvider
    const declared = readRequirements((yield* blueprints.requirements(blueprint.id)) ?? "")
    const offered = yield* registry.list.pipe(Effect.orElseSucceed(() => []))
    return new Set([...declared.requirements.subscriptionRoles, ...offered.map(({ role }) => role)])
  })

/**
 * The templates and roles that the blueprint's configuration names, ascending, for this user. What cannot be told counts as not there; the
 * hypervisor is not asked. A configuration that cannot be read names nothing.
 */
export const readinessOf = (blueprint: Blueprint, user: User) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const machines = yield* Machines
    const ranges = yield* Ranges
    const references = readReferences((yield* blueprints.config(blueprint.id)) ?? "")
    if (Result.isFailure(references)) return { templates: [], roles: [] } satisfies Readiness
    const { templates, roles } = references.success
    const templatesShown = yield* machines.templates
    // what users of a range call a template there is nobody else's
    const pools = new Set<string | undefined>((yield* ranges.list()).map(({ id }) => id))
    const built = new Set(
      templatesShown.flatMap((machine) => (isFinishedTemplate(machine) && !pools.has(machine.pool) ? [machine.name] : [])),
    )
    const states = unbuilt(yield* Effect.orElseSucceed(listTemplates(user), () => []))
    const installed = yield* installedFor(user)
    const subscription = roles.length === 0 ? new Set<string>() : yield* subscriptionRoles(blueprint)
    return {
      templates: templates.map((name) => ({
        name,
        built: built.has(name),
        status: states.get(name) ?? (built.has(name) ? "built" : "missing"),
      })),
      roles: roles.map((name) => ({ name, installed: hasRole(installed, name), subscription: subscription.has(name) })),
    } satisfies Readiness
  })
