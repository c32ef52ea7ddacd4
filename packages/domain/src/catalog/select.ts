import * as Result from "effect/Result"
import type { BrokenItem, ItemKind, SourceContent } from "../source/content.ts"
import { needsOf, shippedNames, sortedUnique } from "./needs.ts"

/** Items of a source by name; blueprints by the id in their manifest. */
export interface Selection {
  readonly blueprints: ReadonlyArray<string>
  readonly templates: ReadonlyArray<string>
  readonly localRoles: ReadonlyArray<string>
  readonly localCollections: ReadonlyArray<string>
}

/** An item that was selected but is not shipped. */
export interface UnknownItem {
  readonly kind: ItemKind
  readonly name: string
}

/** Everything that a source ships. */
export const everythingShipped = ({ blueprints, templates, roles, collections }: SourceContent): Selection => ({
  blueprints: sortedUnique(blueprints.map(({ id }) => id)),
  templates: sortedUnique(templates.map(({ name }) => name)),
  localRoles: sortedUnique(roles.map(({ name }) => name)),
  localCollections: sortedUnique(collections.map(({ name }) => name)),
})

const listOf = {
  blueprint: "blueprints",
  template: "templates",
  role: "localRoles",
  collection: "localCollections",
} as const satisfies Readonly<Record<ItemKind, keyof Selection>>

const itemKinds = ["blueprint", "template", "role", "collection"] as const satisfies readonly ItemKind[]

/**
 * Splits a selection into what can be installed and the broken items that it names. A name that a valid item has as well means the valid
 * one.
 */
export const partBroken = (
  content: SourceContent,
  wanted: Partial<Selection>,
): { readonly wanted: Partial<Selection>; readonly broken: ReadonlyArray<BrokenItem> } => {
  const all = everythingShipped(content)
  const sound = new Set(itemKinds.flatMap((kind) => all[listOf[kind]].map((name) => `${kind} ${name}`)))
  const asked = new Set(itemKinds.flatMap((kind) => (wanted[listOf[kind]] ?? []).map((name) => `${kind} ${name}`)))
  const broken = content.broken.filter(({ kind, name }) => asked.has(`${kind} ${name}`) && !sound.has(`${kind} ${name}`))
  if (broken.length === 0) return { wanted, broken }
  const without = (kind: ItemKind) => {
    const names = new Set(broken.flatMap((item) => (item.kind === kind ? [item.name] : [])))
    return wanted[listOf[kind]]?.filter((name) => !names.has(name)) ?? []
  }
  return {
    wanted: {
      blueprints: without("blueprint"),
      templates: without("template"),
      localRoles: without("role"),
      localCollections: without("collection"),
    },
    broken,
  }
}

/**
 * Adds to a selection everything from the same source that its blueprints need: templates and roles that their configurations name, roles
 * and collections that their requirements name. Never adds blueprints; idempotent. Lists are sorted and unique. Fails with all names that
 * the source does not ship.
 */
export const expandSelection = (
  content: SourceContent,
  wanted: Partial<Selection>,
): Result.Result<Selection, ReadonlyArray<UnknownItem>> => {
  const all = everythingShipped(content)
  const unknown = [
    ...unknownNames("blueprint", wanted.blueprints, all.blueprints),
    ...unknownNames("template", wanted.templates, all.templates),
    ...unknownNames("role", wanted.localRoles, all.localRoles),
    ...unknownNames("collection", wanted.localCollections, all.localCollections),
  ]
  if (unknown.length > 0) return Result.fail(unknown)
  const names = shippedNames(content)
  const selected = new Set(wanted.blueprints)
  const needs = content.blueprints.filter(({ id }) => selected.has(id)).map((blueprint) => needsOf(names, blueprint))
  return Result.succeed({
    blueprints: sortedUnique([...selected]),
    templates: sortedUnique([...(wanted.templates ?? []), ...needs.flatMap(({ templates }) => templates)]),
    localRoles: sortedUnique([
      ...(wanted.localRoles ?? []),
      ...needs.flatMap(({ configRoles, declaredRoles }) => [...configRoles, ...declaredRoles]),
    ]),
    localCollections: sortedUnique([...(wanted.localCollections ?? []), ...needs.flatMap(({ collections }) => collections)]),
  })
}

const unknownNames = (
  kind: UnknownItem["kind"],
  wanted: ReadonlyArray<string> = [],
  known: ReadonlyArray<string>,
): ReadonlyArray<UnknownItem> => {
  const names = new Set(known)
  return sortedUnique(wanted.filter((name) => !names.has(name))).map((name) => ({ kind, name }))
}
