import type { InstalledCopy } from "../catalog/installed.ts"
import { parentCollection, sortedUnique } from "../catalog/needs.ts"
import type { CollectionRequirement, Requirements, RoleRequirement } from "../source/content.ts"
import { guessCollection, isRoleName } from "../source/names.ts"

/** Known roles at the place where a blueprint is created. If several copies have the same name, the first counts. */
export interface KnownRoles {
  /** Names in the subscription registry. */
  readonly subscription: ReadonlySet<string>
  readonly roles: ReadonlyArray<InstalledCopy>
  readonly collections: ReadonlyArray<InstalledCopy>
}

/** The requirements that follow from a configuration's roles. */
export interface RequiredRoles {
  readonly requirements: Requirements
  /** Roles that exist only on this server's disk, with no known origin for another server to install them from. */
  readonly custom: ReadonlyArray<string>
}

/**
 * What another server must install so that a configuration with these roles works there: a subscription role by name; a role in a
 * collection as its collection; any other role in the version installed here. Invalid role names require nothing.
 */
export const requiredRoles = (names: ReadonlyArray<string>, known: KnownRoles): RequiredRoles => {
  const roles: Array<RoleRequirement> = []
  const collections = new Map<string, CollectionRequirement>()
  const [subscriptionRoles, custom]: [Array<string>, Array<string>] = [[], []]
  for (const name of sortedUnique(names.filter(isRoleName))) {
    const copy = known.roles.find((role) => role.name === name)
    const collection = parentCollection(name)
    if (known.subscription.has(name)) subscriptionRoles.push(name)
    else if (copy !== undefined && (copy.version ?? "") === "") custom.push(name)
    else if (copy === undefined && collection !== undefined)
      collections.set(collection, pinned(collection, known.collections.find((other) => other.name === collection)?.version))
    else roles.push(pinned(name, copy?.version))
  }
  return { requirements: { roles, collections: [...collections.values()], subscriptionRoles }, custom }
}

const pinned = (name: string, version: string | undefined) =>
  version === undefined || version === "" ? { name } : { name, version }

/** The part of `wanted` that the declared requirements do not name yet. */
export const stillRequired = (declared: Requirements, wanted: Requirements): Requirements => {
  const roles = new Set(declared.roles.map(({ name, src }) => name ?? src))
  const collections = new Set(
    declared.collections.flatMap(({ name }) => (name === undefined ? [] : [name, guessCollection(name)])),
  )
  const subscription = new Set(declared.subscriptionRoles)
  return {
    roles: wanted.roles.filter(({ name }) => !roles.has(name) && !subscription.has(name ?? "")),
    collections: wanted.collections.filter(({ name }) => !collections.has(name)),
    subscriptionRoles: wanted.subscriptionRoles.filter((name) => !subscription.has(name) && !roles.has(name)),
  }
}

export const requiresNothing = ({ roles, collections, subscriptionRoles }: Requirements): boolean =>
  roles.length + collections.length + subscriptionRoles.length === 0
