import { type Blueprint, readReferences, type User } from "@rangewright/domain"
import { Blueprints, GuestAutomation, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/** What a blueprint needs, and whether it is there. */
export interface Readiness {
  readonly templates: readonly { readonly name: string; readonly built: boolean }[]
  readonly roles: readonly { readonly name: string; readonly installed: boolean }[]
}

/**
 * The templates and roles that the blueprint's configuration names, ascending, for this user. What cannot be told counts as not there; the
 * hypervisor is not asked. A configuration that cannot be read names nothing.
 */
export const readinessOf = (blueprint: Blueprint, user: User) =>
  Effect.gen(function* () {
    const references = readReferences((yield* (yield* Blueprints).config(blueprint.id)) ?? "")
    if (Result.isFailure(references)) return { templates: [], roles: [] } satisfies Readiness
    const { templates, roles } = references.success
    const cluster = yield* (yield* Machines).cluster
    const built = new Set((cluster?.machines ?? []).flatMap(({ template, name }) => (template ? [name] : [])))
    const installed = yield* (yield* GuestAutomation).roles(user.id).pipe(Effect.orElseSucceed(() => undefined))
    return {
      templates: templates.map((name) => ({ name, built: built.has(name) })),
      roles: roles.map((name) => ({ name, installed: installed?.has(name) ?? false })),
    } satisfies Readiness
  })
