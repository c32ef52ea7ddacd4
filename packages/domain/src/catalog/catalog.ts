import { compareNames, directoryName, type ShippedBlueprint, type SourceContent } from "../source/content.ts"
import { type Copies, copiesByName, findCopies, stateOfCopies } from "./copies.ts"
import type { BlueprintRow, Installed, Shipped } from "./installed.ts"
import { type Needs, sortedUnique } from "./needs.ts"
import { requiredItem } from "./required.ts"
import type { CatalogBlueprint, CatalogBlueprints, CatalogItem, InstallState, SourceCatalog } from "./source-catalog.ts"
import { type SourceSurvey, surveySource } from "./survey.ts"

/**
 * The catalog of a source: what it ships, with the state of each item for one viewer, and who needs it (contract C 5). A pure
 * function: the same values give the same catalog, whatever their order; time grows with their size. `survey` spares most of the work
 * where it is kept from an earlier call; it must be of the same content.
 */
export const catalogOf = (
  { source, content }: Shipped,
  installed: Installed,
  blueprintRows: ReadonlyArray<BlueprintRow>,
  survey: SourceSurvey = surveySource(content),
): SourceCatalog => {
  const roles = copiesByName(installed.roles)
  const collections = copiesByName(installed.collections)
  return {
    sourceID: source.id,
    sourceName: source.name,
    ...(source.description ? { description: source.description } : {}),
    ...(source.type ? { sourceType: source.type } : {}),
    ...(source.lastSyncedAt ? { lastSyncedAt: source.lastSyncedAt } : {}),
    blueprints: catalogBlueprints(survey, blueprintRows, { roles, collections }),
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

const catalogBlueprints = (
  survey: SourceSurvey,
  rows: ReadonlyArray<BlueprintRow>,
  copies: { readonly roles: Copies; readonly collections: Copies },
): CatalogBlueprints => {
  const installed = new Map(rows.map(({ sourceBlueprintID, version }) => [sourceBlueprintID, version]))
  // They are always installed globally: a user's role of the same name is another one.
  const globalRole = (name: string): Copies => {
    const copy = copies.roles.get(name)?.global
    return copy === undefined ? new Map() : new Map([[name, { global: copy }]])
  }
  return {
    items: survey.blueprints.map(({ blueprint, needs }) => catalogBlueprint(blueprint, needs, installed.get(blueprint.id))),
    requiredRoles: survey.roles.map((requirement) => requiredItem(requirement, copies.roles)),
    requiredCollections: survey.collections.map((requirement) => requiredItem(requirement, copies.collections)),
    subscriptionRoles: survey.subscriptionRoles.map((requirement) => requiredItem(requirement, globalRole(requirement.name))),
    ...(survey.undeclared.length === 0 ? {} : { undeclaredDependencies: survey.undeclared }),
  }
}

const catalogBlueprint = (
  { id, name, description, version, references, requirements }: ShippedBlueprint,
  { configRoles }: Needs,
  installedVersion: string | undefined,
): CatalogBlueprint => {
  const templates = sortedUnique(references.templates)
  const roles = named(requirements.roles)
  const collections = named(requirements.collections)
  return {
    id,
    name,
    ...(description ? { description } : {}),
    version,
    state: blueprintState(version, installedVersion),
    ...(installedVersion ? { installedVersion } : {}),
    ...(templates.length === 0 ? {} : { requiredTemplates: templates }),
    ...(configRoles.length === 0 ? {} : { requiredLocalRoles: configRoles }),
    ...(roles.length === 0 ? {} : { requiredRoles: roles }),
    ...(collections.length === 0 ? {} : { requiredCollections: collections }),
  }
}

/** Versions of blueprints are compared as text: whatever differs can be had, an older one too. */
const blueprintState = (shipped: string, installed: string | undefined): InstallState => {
  if (installed === undefined) return "not_installed"
  return installed === shipped || installed === "" || shipped === "" ? "installed" : "upgrade_available"
}

const named = (requirements: ReadonlyArray<{ readonly name?: string }>): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (const { name } of requirements) if (name !== undefined && name !== "") names.push(name)
  return names
}

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
