/** What blueprints need of what their own source ships. The catalog and an installation ask here, so that both say the same. */
import { compareNames, directoryName, type ShippedBlueprint, type SourceContent } from "../source/content.ts"
import { guessCollection } from "../source/names.ts"

/** What a source ships, by name. */
export interface ShippedNames {
  readonly templates: ReadonlySet<string>
  /** Canonical names by canonical name and by name of the directory: configurations use either. */
  readonly roles: ReadonlyMap<string, string>
  readonly collections: ReadonlySet<string>
}

export const shippedNames = ({ templates, roles, collections }: SourceContent): ShippedNames => ({
  templates: new Set(templates.map(({ name }) => name)),
  // Last wins: a canonical name is never hidden by another role's directory.
  roles: new Map([
    ...roles.map(({ name, directory }): [string, string] => [directoryName(directory), name]),
    ...roles.map(({ name }): [string, string] => [name, name]),
  ]),
  collections: new Set(collections.map(({ name }) => name)),
})

/** Names of what one blueprint needs, each once and sorted. */
export interface ShippedNeeds {
  readonly templates: ReadonlyArray<string>
  /** Canonical names of shipped roles that the configuration names. */
  readonly configRoles: ReadonlyArray<string>
  /** The same and those that its requirements name. */
  readonly roles: ReadonlyArray<string>
  /** Shipped collections that its requirements name, or that a role in its configuration is of. */
  readonly collections: ReadonlyArray<string>
}

export const shippedNeeds = (names: ShippedNames, { references, requirements }: ShippedBlueprint): ShippedNeeds => {
  const resolve = (role: string | undefined): ReadonlyArray<string> => {
    const canonical = role === undefined ? undefined : names.roles.get(role)
    return canonical === undefined ? [] : [canonical]
  }
  const configRoles = sortedUnique(references.roles.flatMap(resolve))
  const declared = requirements.collections.map(({ name }) => name)
  const parents = references.roles.filter((role) => !names.roles.has(role)).map(parentCollection)
  return {
    templates: sortedUnique(references.templates.filter((name) => names.templates.has(name))),
    configRoles,
    roles: sortedUnique([...configRoles, ...requirements.roles.flatMap(({ name }) => resolve(name))]),
    collections: sortedUnique([...declared, ...parents].filter((name) => name !== undefined && names.collections.has(name))),
  }
}

/** The collection of a role that is named with it, as in `<namespace>.<collection>.<role>`. */
export const parentCollection = (role: string): string | undefined => {
  const parts = role.split(".", 3)
  return parts.length < 3 ? undefined : `${parts[0]}.${parts[1]}`
}

/** The collections that a blueprint's requirements provide: as named, and as the URLs of git repositories suggest. */
export const declaredCollections = ({ requirements }: ShippedBlueprint): ReadonlySet<string> =>
  new Set(requirements.collections.flatMap(({ name }) => (name === undefined ? [] : [name, guessCollection(name) ?? name])))

export const sortedUnique = <T extends string>(names: ReadonlyArray<T | undefined>): ReadonlyArray<T> =>
  [...new Set(names.filter((name) => name !== undefined))].toSorted(compareNames)
