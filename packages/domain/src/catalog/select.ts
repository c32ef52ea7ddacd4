import * as Result from "effect/Result"
import type { ItemKind, SourceContent } from "../source/content.ts"
import { needsOf, shippedNames, sortedUnique } from "./needs.ts"

/** Items of a source by name: blueprints by the id in their manifest. */
export interface Selection {
  readonly blueprints: ReadonlyArray<string>
  readonly templates: ReadonlyArray<string>
  readonly localRoles: ReadonlyArray<string>
  readonly localCollections: ReadonlyArray<string>
}

/** What was selected and is not shipped, or shipped so that nobody can install it: then `problem` says why. */
export interface UnknownItem {
  readonly kind: ItemKind
  readonly name: string
  readonly problem?: string
}

/** Everything that a source ships. */
export const everythingShipped = ({ blueprints, templates, roles, collections }: SourceContent): Selection => ({
  blueprints: sortedUnique(blueprints.map(({ id }) => id)),
  templates: sortedUnique(templates.map(({ name }) => name)),
  localRoles: sortedUnique(roles.map(({ name }) => name)),
  localCollections: sortedUnique(collections.map(({ name }) => name)),
})

/**
 * A selection with all that its blueprints need of the same source (contract C 5.8, 6.2): templates and roles that their configurations
 * name, roles and collections that their requirements name. Never adds blueprints; selecting again adds nothing. Lists are sorted and
 * without repetition. Fails with every name that the source does not ship, or not so that it can be installed.
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
  if (unknown.length > 0) return Result.fail(unknown.map((item) => withProblem(content, item)))
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

const withProblem = ({ broken }: SourceContent, { kind, name }: UnknownItem): UnknownItem => {
  const found = broken.find((item) => item.kind === kind && item.name === name)
  return found === undefined ? { kind, name } : { kind, name, problem: found.problem }
}

const unknownNames = (
  kind: UnknownItem["kind"],
  wanted: ReadonlyArray<string> = [],
  known: ReadonlyArray<string>,
): ReadonlyArray<UnknownItem> => {
  const names = new Set(known)
  return sortedUnique(wanted.filter((name) => !names.has(name))).map((name) => ({ kind, name }))
}
