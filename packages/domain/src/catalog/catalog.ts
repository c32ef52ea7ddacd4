import { type Copies, copiesByName, findCopies, stateOfCopies } from "./copies.ts"
import type { BlueprintRow, Installed, Shipped } from "./installed.ts"
import { type BrokenItem, compareNames, type ItemKind } from "../source/content.ts"
import type { CatalogBlueprint, CatalogItem, InstallState, SourceCatalog, SurveyedItem } from "./source-catalog.ts"
import { type SourceSurvey, surveySource } from "./survey.ts"

/**
 * The catalog of a source: what it ships, with the state of each item for one viewer, and who requires it. A pure function: the same values
 * give the same catalog, whatever their order, in time proportional to their size. A `survey` kept from an earlier call on the same content
 * saves most of the work.
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
  // Subscription roles are always installed globally: a user's role of the same name is a different one.
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

/** Merges both lists by name; valid items come before broken ones of the same name. */
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
    // a pin that is not a version does not prove an upgrade
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

/** Blueprint versions are compared as text: any different version can be installed, even an older one. */
const blueprintState = (shipped: string, installed: string | undefined): InstallState => {
  if (installed === undefined) return "not_installed"
  return installed === shipped || installed === "" || shipped === "" ? "installed" : "upgrade_available"
}
