import { compareNames, directoryName, type ShippedBlueprint, type SourceContent } from "../source/content.ts"
import { copiesByName, type Copies, findCopies, stateOfCopies } from "./copies.ts"
import type { BlueprintRow, Installed, Shipped } from "./installed.ts"
import { type ShippedNames, shippedNames, shippedNeeds, sortedUnique } from "./needs.ts"
import { addDeclarations, requiredItems, type Requireds } from "./required.ts"
import type { CatalogBlueprint, CatalogBlueprints, CatalogItem, InstallState, SourceCatalog } from "./source-catalog.ts"
import { undeclaredDependencies } from "./undeclared.ts"

/**
 * The catalog of a source: what it ships, with the state of each item for one viewer, and who needs it (contract C 5). A pure
 * function: the same values give the same catalog, whatever their order; time grows with their size.
 */
export const catalogOf = (
  { source, content }: Shipped,
  installed: Installed,
  blueprintRows: ReadonlyArray<BlueprintRow>,
): SourceCatalog => {
  const roles = copiesByName(installed.roles)
  const collections = copiesByName(installed.collections)
  const blueprints = content.blueprints.toSorted((a, b) => compareNames(a.id, b.id))
  const names = shippedNames(content)
  const survey = surveyBlueprints(names, blueprints)
  return {
    sourceID: source.id,
    sourceName: source.name,
    ...(source.description ? { description: source.description } : {}),
    ...(source.type ? { sourceType: source.type } : {}),
    ...(source.lastSyncedAt ? { lastSyncedAt: source.lastSyncedAt } : {}),
    blueprints: catalogBlueprints(names, blueprints, blueprintRows, survey, { roles, collections }),
    templates: templateItems(content, new Set(installed.templates)),
    localRoles: content.roles
      .map(({ name, directory, ...said }) => {
        const alias = directoryName(directory)
        return localItem(name, said, findCopies(roles, alias === name ? [name] : [name, alias]), survey.rolesBy.get(name))
      })
      .toSorted(byName),
    localCollections: content.collections
      .map(({ name, ...said }) => localItem(name, said, findCopies(collections, [name]), survey.collectionsBy.get(name)))
      .toSorted(byName),
  }
}

const byName = (a: CatalogItem, b: CatalogItem): number => compareNames(a.name, b.name)

/** What the blueprints of a source together need. Lists of blueprints are in the order of ids. */
interface Survey {
  readonly roles: Requireds
  readonly collections: Requireds
  readonly subscriptionRoles: Requireds
  /** By canonical name of a shipped role: the blueprints whose configurations name it. */
  readonly rolesBy: ReadonlyMap<string, ReadonlyArray<string>>
  readonly collectionsBy: ReadonlyMap<string, ReadonlyArray<string>>
}

const surveyBlueprints = (names: ShippedNames, blueprints: ReadonlyArray<ShippedBlueprint>): Survey => {
  const [roles, collections, subscriptionRoles]: [Requireds, Requireds, Requireds] = [new Map(), new Map(), new Map()]
  const [rolesBy, collectionsBy] = [new Map<string, Array<string>>(), new Map<string, Array<string>>()]
  for (const blueprint of blueprints) {
    const { id, requirements } = blueprint
    addDeclarations(roles, id, requirements.roles)
    addDeclarations(collections, id, requirements.collections)
    addDeclarations(
      subscriptionRoles,
      id,
      requirements.subscriptionRoles.map((name) => ({ name })),
    )
    const needs = shippedNeeds(names, blueprint)
    addUser(rolesBy, needs.configRoles, id)
    addUser(collectionsBy, needs.collections, id)
  }
  return { roles, collections, subscriptionRoles, rolesBy, collectionsBy }
}

const addUser = (users: Map<string, Array<string>>, used: ReadonlyArray<string>, user: string): void => {
  for (const name of used) {
    const known = users.get(name)
    if (known === undefined) users.set(name, [user])
    else known.push(user)
  }
}

const catalogBlueprints = (
  names: ShippedNames,
  blueprints: ReadonlyArray<ShippedBlueprint>,
  rows: ReadonlyArray<BlueprintRow>,
  survey: Survey,
  copies: { readonly roles: Copies; readonly collections: Copies },
): CatalogBlueprints => {
  const installed = new Map(rows.map(({ sourceBlueprintID, version }) => [sourceBlueprintID, version]))
  const undeclared = blueprints.flatMap((blueprint) => undeclaredDependencies(names, blueprint))
  return {
    items: blueprints.map((blueprint) => catalogBlueprint(names, blueprint, installed.get(blueprint.id))),
    requiredRoles: requiredItems(survey.roles, copies.roles),
    requiredCollections: requiredItems(survey.collections, copies.collections),
    // They are always installed globally: a user's role of the same name is another one.
    subscriptionRoles: requiredItems(survey.subscriptionRoles, globalOnly(copies.roles)),
    ...(undeclared.length === 0 ? {} : { undeclaredDependencies: undeclared }),
  }
}

const globalOnly = (copies: Copies): Copies =>
  new Map(Array.from(copies, ([name, { global }]) => [name, global === undefined ? {} : { global }]))

const catalogBlueprint = (
  names: ShippedNames,
  blueprint: ShippedBlueprint,
  installedVersion: string | undefined,
): CatalogBlueprint => {
  const { id, name, description, version, references, requirements } = blueprint
  return {
    id,
    name,
    ...(description ? { description } : {}),
    version,
    state: blueprintState(version, installedVersion),
    ...(installedVersion ? { installedVersion } : {}),
    ...unlessEmpty("requiredTemplates", sortedUnique(references.templates)),
    ...unlessEmpty("requiredLocalRoles", shippedNeeds(names, blueprint).configRoles),
    ...unlessEmpty("requiredRoles", named(requirements.roles)),
    ...unlessEmpty("requiredCollections", named(requirements.collections)),
  }
}

/** Versions of blueprints are compared as text: whatever differs can be had, an older one too. */
const blueprintState = (shipped: string, installed: string | undefined): InstallState => {
  if (installed === undefined) return "not_installed"
  return installed === shipped || installed === "" || shipped === "" ? "installed" : "upgrade_available"
}

const named = (requirements: ReadonlyArray<{ readonly name?: string }>): ReadonlyArray<string> =>
  requirements.flatMap(({ name }) => (name ? [name] : []))

const unlessEmpty = <const K extends keyof CatalogBlueprint>(
  key: K,
  list: ReadonlyArray<string>,
): { readonly [N in K]?: ReadonlyArray<string> } =>
  // One key of the type, with its list.
  (list.length === 0 ? {} : { [key]: list }) as { readonly [N in K]?: ReadonlyArray<string> }

const templateItems = ({ templates }: SourceContent, installed: ReadonlySet<string>): ReadonlyArray<CatalogItem> =>
  templates
    .map(({ name, description }): CatalogItem => ({
      name,
      ...(description ? { description } : {}),
      state: installed.has(name) ? "installed" : "not_installed",
    }))
    .toSorted(byName)

/** An item that the source ships itself. Its copies are never compared with it: only whether it is there counts. */
const localItem = (
  name: string,
  { description, version }: { readonly description?: string; readonly version?: string },
  copies: Parameters<typeof stateOfCopies>[0],
  requiredBy: ReadonlyArray<string> | undefined,
): CatalogItem => ({
  name,
  ...(description ? { description } : {}),
  ...(version ? { version } : {}),
  ...stateOfCopies(copies, undefined),
  ...(requiredBy === undefined ? {} : { requiredBy }),
})
