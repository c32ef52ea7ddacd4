import { type Copies, copiesByName, findCopies, stateOfCopies } from "./copies.ts"
import type { BlueprintRow, Installed, Shipped } from "./installed.ts"
import { type BrokenItem, compareNames, type ItemKind } from "../source/content.ts"
import type { CatalogBlueprint, CatalogItem, InstallState, SourceCatalog, SurveyedItem } from "./source-catalog.ts"
import { type SourceSurvey, surveySource } from "./survey.ts"

/**
 * The catalog of a source: what it ships, with the state of each item for one viewer, and who needs it. A pure
 * function: the same values give the same catalog, whatever their order; time grows with their size. `survey` spares most of the work
 * where it is kept from an earlier call; it must be of the same content.
 */
export const catalogOf = (
  { source, content }: Shipped,
  installed: Installed,
  blueprintRows: ReadonlyArray<BlueprintRow>,
  survey: SourceSurvey = surveySource(content),
): SourceCatalog => {
  const rows = new Map(blueprintRows.map(({ sourceBlueprintID, version }) => [sourceBlueprintID, version]))
  const templates = new Set(installed.templates)
  const roles = copiesByName(installed.roles)
  // They are always installed globally: a user's role of the same name is another one.
  const globalRoles: Copies = { global: roles.global, user: new Map() }
  const collections = copiesByName(installed.collections)
  const broken = (kind: ItemKind) => content.broken.filter((item) => item.kind === kind)
  return {
    sourceID: source.id,
    sourceName: source.name,
    ...(source.description ? { description: source.description } : {}),
    ...(source.type ? { sourceType: source.type } : {}),
    ...(source.lastSyncedAt ? { lastSyncedAt: source.lastSyncedAt } : {}),
    blueprints: {
      items: inOrder(
        survey.blueprints.map((entry) => withBlueprintState(entry, rows.get(entry.id), installed)),
        broken("blueprint").map((item) => brokenBlueprint(item, rows.get(item.name))),
        ({ id }) => id,
      ),
      requiredRoles: withStates(survey.roles, roles),
      requiredCollections: withStates(survey.collections, collections),
      subscriptionRoles: withStates(survey.subscriptionRoles, globalRoles),
      ...(survey.undeclared.length === 0 ? {} : { undeclaredDependencies: survey.undeclared }),
    },
    templates: withBroken(
      survey.templates.map(({ item }) => ({
        ...item,
        state: templates.has(item.name) ? "installed" : "not_installed",
        ...(installed.needed === undefined ? {} : { status: installed.needed(item.name).status }),
      })),
      broken("template"),
    ),
    localRoles: withBroken(withStates(survey.localRoles, roles), broken("role")),
    localCollections: withBroken(withStates(survey.localCollections, collections), broken("collection")),
  }
}

/** Both lists as one; of the same name the sound one comes first. */
const inOrder = <T>(sound: ReadonlyArray<T>, broken: ReadonlyArray<T>, nameOf: (item: T) => string): ReadonlyArray<T> =>
  broken.length === 0 ? sound : [...sound, ...broken].toSorted((a, b) => compareNames(nameOf(a), nameOf(b)))

const withBroken = (items: ReadonlyArray<CatalogItem>, broken: ReadonlyArray<BrokenItem>): ReadonlyArray<CatalogItem> =>
  inOrder(
    items,
    broken.map(({ name, state, problem }) => ({ name, state, problem })),
    ({ name }) => name,
  )

const brokenBlueprint = ({ name, state, problem }: BrokenItem, installedVersion: string | undefined): CatalogBlueprint => ({
  id: name,
  name,
  version: "",
  state,
  problem,
  ...(installedVersion ? { installedVersion } : {}),
})

const withStates = (items: ReadonlyArray<SurveyedItem>, copies: Copies): ReadonlyArray<CatalogItem> =>
  items.map(({ item, copiedAs, pin, unknowable }) => {
    const found = stateOfCopies(findCopies(copies, copiedAs), pin)
    // a pin that says nothing about versions proves no upgrade
    return unknowable && found.state === "upgrade_available" ? { ...item, ...found, state: "installed" } : { ...item, ...found }
  })

const withBlueprintState = (
  entry: SourceSurvey["blueprints"][number],
  installedVersion: string | undefined,
  { needed }: Installed,
): CatalogBlueprint => {
  const state = blueprintState(entry.version, installedVersion)
  const { requiredTemplates } = entry
  return {
    ...entry,
    state,
    ...(installedVersion ? { installedVersion } : {}),
    ...(needed === undefined || requiredTemplates === undefined ? {} : { templateStatus: requiredTemplates.map(needed) }),
  }
}

/** Versions of blueprints are compared as text: whatever differs can be had, an older one too. */
const blueprintState = (shipped: string, installed: string | undefined): InstallState => {
  if (installed === undefined) return "not_installed"
  return installed === shipped || installed === "" || shipped === "" ? "installed" : "upgrade_available"
}
