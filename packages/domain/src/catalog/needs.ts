/** What blueprints need of what their own source ships. The catalog and an installation ask here, so that both say the same. */
import { compareNames, directoryName, type ShippedBlueprint, type SourceContent } from "../source/content.ts"
import { guessCollection } from "../source/names.ts"
import type { UndeclaredDependency } from "./source-catalog.ts"

/** What a source ships, by name. */
export interface ShippedNames {
  readonly templates: ReadonlySet<string>
  /** Canonical names by canonical name and by name of the directory: configurations use either. */
  readonly roles: ReadonlyMap<string, string>
  readonly collections: ReadonlySet<string>
}

export const shippedNames = ({ templates, roles, collections }: SourceContent): ShippedNames => {
  const canonical = new Map<string, string>()
  for (const { name, directory } of roles) canonical.set(directoryName(directory), name)
  // After all aliases: a canonical name is never hidden by another role's directory.
  for (const { name } of roles) canonical.set(name, name)
  return {
    templates: new Set(templates.map(({ name }) => name)),
    roles: canonical,
    collections: new Set(collections.map(({ name }) => name)),
  }
}

/** Names of what one blueprint needs, each once and sorted. */
export interface Needs {
  /** Templates that the source ships and the configuration names. */
  readonly templates: ReadonlyArray<string>
  /** Canonical names of shipped roles that the configuration names. */
  readonly configRoles: ReadonlyArray<string>
  /** Canonical names of shipped roles that the requirements name. */
  readonly declaredRoles: ReadonlyArray<string>
  /** Shipped collections that the requirements name, or that a role in the configuration is of. */
  readonly collections: ReadonlyArray<string>
  /**
   * The roles in the configuration that would be missing after an installation. A role of a collection is provided by
   * the collection: one that the source ships, or one that the requirements name, by its name or by the URL of its git repository.
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

/** What requirements provide: roles as named; collections as named, and as the URLs of git repositories suggest. */
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

/** Up to here a look through the list is quicker than a set is made. */
const short = 16

const membership = (names: ReadonlyArray<string>): ((name: string) => boolean) => {
  if (names.length <= short) return (name) => names.includes(name)
  const set = new Set(names)
  return (name) => set.has(name)
}

/** The collection of a role that is named with it, as in `<namespace>.<collection>.<role>`. */
export const parentCollection = (role: string): string | undefined => {
  const end = role.indexOf(".", role.indexOf(".") + 1)
  return end === -1 ? undefined : role.slice(0, end)
}

/** The names in order and each once; the very list where it is so already, as lists of a source that was read are. */
export const sortedUnique = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.every((name, at) => at === 0 || (names[at - 1] ?? "") < name) ? names : [...new Set(names)].toSorted(compareNames)
