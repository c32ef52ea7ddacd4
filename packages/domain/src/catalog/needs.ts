/** What blueprints need from their own source. Used by the catalog and by installations, so that both agree. */
import { compareNames, directoryName, type ShippedBlueprint, type SourceContent } from "../source/content.ts"
import { guessCollection } from "../source/names.ts"
import type { UndeclaredDependency } from "./source-catalog.ts"

/** What a source ships, by name. */
export interface ShippedNames {
  readonly templates: ReadonlySet<string>
  /** Canonical names by canonical name and by directory name: configurations use either. */
  readonly roles: ReadonlyMap<string, string>
  readonly collections: ReadonlySet<string>
}

export const shippedNames = ({ templates, roles, collections }: SourceContent): ShippedNames => {
  const canonical = new Map<string, string>()
  for (const { name, directory } of roles) canonical.set(directoryName(directory), name)
  // Set after all aliases, so that another role's directory never hides a canonical name.
  for (const { name } of roles) canonical.set(name, name)
  return {
    templates: new Set(templates.map(({ name }) => name)),
    roles: canonical,
    collections: new Set(collections.map(({ name }) => name)),
  }
}

/** Names of what one blueprint needs, sorted and unique. */
export interface Needs {
  /** Templates that the source ships and the configuration names. */
  readonly templates: ReadonlyArray<string>
  /** Canonical names of shipped roles that the configuration names. */
  readonly configRoles: ReadonlyArray<string>
  /** Canonical names of shipped roles that the requirements name. */
  readonly declaredRoles: ReadonlyArray<string>
  /** Shipped collections that the requirements name, or that contain a role in the configuration. */
  readonly collections: ReadonlyArray<string>
  /**
   * Roles in the configuration that would still be missing after an installation. A role in a collection is provided by that collection, if
   * the source ships it or the requirements name it, by name or by the URL of its git repository.
   */
  readonly undeclared: ReadonlyArray<UndeclaredDependency>
}

export const needsOf = (names: ShippedNames, { id, references, requirements }: ShippedBlueprint): Needs => {
  const configRoles: Array<string> = []
  const declaredRoles: Array<string> = []
  const collections: Array<string> = []
  const undeclared: Array<UndeclaredDependency> = []
  const declared = declaredNames(requirements)
  for (const { name } of requirements.collections) if (name !== undefined && names.collections.has(name)) collections.push(name)
  for (const name of declared.roles) {
    const canonical = names.roles.get(name)
    if (canonical !== undefined) declaredRoles.push(canonical)
  }
  const isProvidedRole = membership([...declared.roles, ...requirements.subscriptionRoles])
  const isProvidedCollection = membership(declared.collections)
  for (const role of sortedUnique(references.roles)) {
    const canonical = names.roles.get(role)
    if (canonical !== undefined) configRoles.push(canonical)
    else if (!isProvidedRole(role)) {
      const parent = parentCollection(role)
      if (parent === undefined) undeclared.push({ blueprintID: id, role, kind: "missing_role" })
      else if (names.collections.has(parent)) collections.push(parent)
      else if (!isProvidedCollection(parent))
        undeclared.push({ blueprintID: id, role, kind: "missing_collection", parentCollection: parent })
    }
  }
  return {
    templates: sortedUnique(references.templates.filter((name) => names.templates.has(name))),
    configRoles: sortedUnique(configRoles),
    declaredRoles: sortedUnique(declaredRoles),
    collections: sortedUnique(collections),
    undeclared,
  }
}

/** What requirements provide: roles as named; collections as named, and as guessed from URLs of git repositories. */
const declaredNames = ({
  roles,
  collections,
}: ShippedBlueprint["requirements"]): { readonly roles: ReadonlyArray<string>; readonly collections: ReadonlyArray<string> } => {
  const declared = { roles: [] as Array<string>, collections: [] as Array<string> }
  for (const { name } of roles) if (name !== undefined) declared.roles.push(name)
  for (const { name } of collections) {
    if (name === undefined) continue
    declared.collections.push(name)
    const guessed = guessCollection(name)
    if (guessed !== undefined && guessed !== name) declared.collections.push(guessed)
  }
  return declared
}

/** Up to this length, searching the list is faster than building a set. */
const short = 16

const membership = (names: ReadonlyArray<string>): ((name: string) => boolean) => {
  if (names.length <= short) return (name) => names.includes(name)
  const set = new Set(names)
  return (name) => set.has(name)
}

/** The collection in a role's name `<namespace>.<collection>.<role>`. */
export const parentCollection = (role: string): string | undefined => {
  const end = role.indexOf(".", role.indexOf(".") + 1)
  return end === -1 ? undefined : role.slice(0, end)
}

/** The names, sorted and unique. Returns the same list if it already is, as lists read from a source are. */
export const sortedUnique = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.every((name, at) => at === 0 || (names[at - 1] ?? "") < name) ? names : [...new Set(names)].toSorted(compareNames)
