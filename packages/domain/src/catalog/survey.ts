/** What a source ships and what all its blueprints need: the part of a catalog that does not depend on the viewer. */
import { compareNames, directoryName, type ShippedBlueprint, type SourceContent } from "../source/content.ts"
import { type Needs, needsOf, shippedNames, sortedUnique } from "./needs.ts"
import { addDeclarations, type Requirement, surveyedRequirements } from "./required.ts"
import type { CatalogBlueprint, SurveyedItem, UndeclaredDependency } from "./source-catalog.ts"

/** All lists are in catalog order. */
export interface SourceSurvey {
  readonly blueprints: ReadonlyArray<Omit<CatalogBlueprint, "state" | "problem" | "installedVersion" | "templateStatus">>
  readonly templates: ReadonlyArray<SurveyedItem>
  readonly localRoles: ReadonlyArray<SurveyedItem>
  readonly localCollections: ReadonlyArray<SurveyedItem>
  /** What blueprints declare. */
  readonly roles: ReadonlyArray<SurveyedItem>
  readonly collections: ReadonlyArray<SurveyedItem>
  readonly subscriptionRoles: ReadonlyArray<SurveyedItem>
  readonly undeclared: ReadonlyArray<UndeclaredDependency>
}

/**
 * Takes time proportional to the number of references. The result is valid as long as the content: keep it for a source that is queried
 * often.
 */
export const surveySource = (content: SourceContent): SourceSurvey => {
  const names = shippedNames(content)
  const [roles, collections, subscriptionRoles] = [
    new Map<string, Requirement>(),
    new Map<string, Requirement>(),
    new Map<string, Requirement>(),
  ]
  const [templatesBy, rolesBy, collectionsBy] = [users(), users(), users()]
  const undeclared: Array<UndeclaredDependency> = []
  const blueprints = content.blueprints
    .toSorted((a, b) => compareNames(a.id, b.id))
    .map((blueprint) => {
      const { id, requirements } = blueprint
      const needs = needsOf(names, blueprint)
      addDeclarations(roles, id, requirements.roles)
      addDeclarations(collections, id, requirements.collections)
      addDeclarations(
        subscriptionRoles,
        id,
        requirements.subscriptionRoles.map((name) => ({ name })),
      )
      addUser(templatesBy, needs.templates, id)
      addUser(rolesBy, needs.configRoles, id)
      addUser(collectionsBy, needs.collections, id)
      undeclared.push(...needs.undeclared)
      return surveyedBlueprint(blueprint, needs)
    })
  return {
    blueprints,
    templates: content.templates
      .map(({ name, description }) => shippedItem(name, { description }, [name], templatesBy.get(name)))
      .toSorted(byName),
    localRoles: content.roles
      .map(({ name, directory, ...said }) => {
        const alias = directoryName(directory)
        return shippedItem(name, said, alias === name ? [name] : [name, alias], rolesBy.get(name))
      })
      .toSorted(byName),
    localCollections: content.collections
      .map(({ name, ...said }) => shippedItem(name, said, [name], collectionsBy.get(name)))
      .toSorted(byName),
    roles: surveyedRequirements(roles),
    collections: surveyedRequirements(collections),
    subscriptionRoles: surveyedRequirements(subscriptionRoles),
    undeclared,
  }
}

const byName = (a: SurveyedItem, b: SurveyedItem): number => compareNames(a.item.name, b.item.name)

const users = (): Map<string, Array<string>> => new Map()

const addUser = (users: Map<string, Array<string>>, used: ReadonlyArray<string>, user: string): void => {
  for (const name of used) {
    const known = users.get(name)
    if (known === undefined) users.set(name, [user])
    else known.push(user)
  }
}

const surveyedBlueprint = (
  { id, name, description, version, references, requirements }: ShippedBlueprint,
  { configRoles }: Needs,
): SourceSurvey["blueprints"][number] => {
  const templates = sortedUnique(references.templates)
  const roles = named(requirements.roles)
  const collections = named(requirements.collections)
  return {
    id,
    name,
    ...(description ? { description } : {}),
    version,
    ...(templates.length === 0 ? {} : { requiredTemplates: templates }),
    ...(configRoles.length === 0 ? {} : { requiredLocalRoles: configRoles }),
    ...(roles.length === 0 ? {} : { requiredRoles: roles }),
    ...(collections.length === 0 ? {} : { requiredCollections: collections }),
  }
}

const named = (requirements: ReadonlyArray<{ readonly name?: string }>): ReadonlyArray<string> =>
  requirements.flatMap(({ name }) => (name === undefined || name === "" ? [] : [name]))

/** An item that the source ships itself. Copies are not compared with it: only their existence counts. */
const shippedItem = (
  name: string,
  { description, version }: { readonly description?: string | undefined; readonly version?: string },
  copiedAs: ReadonlyArray<string>,
  requiredBy: ReadonlyArray<string> | undefined,
): SurveyedItem => ({
  item: {
    name,
    ...(description ? { description } : {}),
    ...(version ? { version } : {}),
    ...(requiredBy === undefined ? {} : { requiredBy }),
  },
  copiedAs,
  pin: undefined,
  unknowable: false,
})
