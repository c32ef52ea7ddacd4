/** The external requirements of the selected blueprints: the union of their declarations, without what the source ships itself. */
import { groupBy } from "../group-by.ts"
import { copyState } from "../catalog/copies.ts"
import { shippedNames, sortedUnique } from "../catalog/needs.ts"
import { directoryName, type ShippedBlueprint, type SourceContent } from "../source/content.ts"
import { guessCollection } from "../source/names.ts"
import type { InstallPlan, PlannedRequirement, Present, PresentCopy, VendoredRole } from "./install-plan.ts"

type Left = Pick<InstallPlan, "roles" | "collections" | "vendoredRoles" | "subscriptionRoles">

export const nothingLeft: Left = { roles: [], collections: [], vendoredRoles: [], subscriptionRoles: [] }

/**
 * Computes these requirements. Names that the source ships (of directories, roles and collections) are left out, because their copies come
 * from the source. `blueprints` must be sorted by id.
 */
export const requirementsLeft = (
  content: SourceContent,
  blueprints: ReadonlyArray<ShippedBlueprint>,
  present: Present,
  force: boolean,
): Left => {
  const shipped = shippedNames(content)
  const declaredBy = <R>(of: (blueprint: ShippedBlueprint) => ReadonlyArray<R>) =>
    blueprints.flatMap((blueprint) => of(blueprint).map((requirement) => ({ blueprint: blueprint.id, requirement })))
  const roles = declaredBy(({ requirements }) => requirements.roles)
  const collections = declaredBy(({ requirements }) => requirements.collections)
  return {
    roles: union(
      roles.filter(({ requirement: { name } }) => name === undefined || !shipped.roles.has(name)),
      ({ name, src }) => name ?? src,
      (requirement) => changeOf(present.roles, requirement.name, requirement.version, force),
    ),
    collections: union(
      collections.filter(({ requirement: { name } }) => name === undefined || !shipped.collections.has(name)),
      ({ name }) => name,
      ({ name, version, type }) =>
        changeOf(present.collections, type === "git" && name !== undefined ? guessCollection(name) : name, version, force),
    ),
    vendoredRoles: vendoredRoles(content, new Set(roles.map(({ requirement }) => requirement.name))),
    subscriptionRoles: subscriptionRoles(blueprints, present),
  }
}

type Declared<R> = PlannedRequirement<R>["declared"][number]

/** Groups declarations by name, in the order of first occurrence. */
const union = <R extends { readonly version?: string }>(
  declared: ReadonlyArray<Declared<R>>,
  identity: (requirement: R) => string | undefined,
  change: (requirement: R) => PlannedRequirement<R>["change"],
): ReadonlyArray<PlannedRequirement<R>> => {
  const byName = groupBy(declared, ({ requirement }) => identity(requirement))
  // without a name or a source there is nothing to fetch
  byName.delete(undefined)
  return [...byName.values()].flatMap((ofOne) => {
    const chosen = (ofOne.find(({ requirement }) => Boolean(requirement.version)) ?? ofOne[0])?.requirement
    return chosen === undefined ? [] : [{ requirement: chosen, declared: ofOne, change: change(chosen) }]
  })
}

const changeOf = (
  copies: ReadonlyArray<PresentCopy>,
  name: string | undefined,
  pin: string | undefined,
  force: boolean,
): PlannedRequirement<unknown>["change"] => {
  const copy = copies.find((candidate) => candidate.name === name)
  if (copy === undefined) return "place"
  if (force) return "replace"
  return copyState(copy.version, pin) === "installed" ? "keep" : "differs"
}

const vendoredRoles = ({ roles }: SourceContent, named: ReadonlySet<string | undefined>): ReadonlyArray<VendoredRole> =>
  roles
    .filter(({ name, directory }) => named.has(name) && name !== directoryName(directory))
    .map(({ name, version }) => (version === undefined ? { name } : { name, version }))

/** Subscription roles are always global. */
const subscriptionRoles = (blueprints: ReadonlyArray<ShippedBlueprint>, present: Present): Left["subscriptionRoles"] => {
  const there = new Set(present.globalRoles)
  const names = sortedUnique(blueprints.flatMap(({ requirements }) => requirements.subscriptionRoles))
  return names.map((name) => ({
    name,
    by: blueprints.filter(({ requirements }) => requirements.subscriptionRoles.includes(name)).map(({ id }) => id),
    there: there.has(name),
  }))
}

/**
 * Declarations that the installed copy does not satisfy: another version, or another origin than the chosen one. No copy can satisfy
 * declarations that contradict each other. An unknown version satisfies any.
 */
export const unmetDeclarations = <R extends { readonly version?: string; readonly src?: string; readonly source?: string }>(
  { requirement, declared }: PlannedRequirement<R>,
  installedVersion: string | undefined,
): ReadonlyArray<Declared<R>> =>
  declared.filter(
    ({ requirement: other }) =>
      (other.src ?? requirement.src) !== requirement.src ||
      (other.source ?? requirement.source) !== requirement.source ||
      (other.version !== requirement.version && copyState(installedVersion, other.version) !== "installed"),
  )
