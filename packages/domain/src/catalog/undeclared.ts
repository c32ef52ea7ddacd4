import type { ShippedBlueprint } from "../source/content.ts"
import { declaredCollections, parentCollection, type ShippedNames, sortedUnique } from "./needs.ts"
import type { UndeclaredDependency } from "./source-catalog.ts"

/**
 * The roles that a blueprint's configuration names and that would be missing after its installation, sorted by name (contract C 5.9). A
 * role of a collection is provided by the collection: one that the source ships, or one that the requirements name, by its name or by the
 * URL of its git repository.
 */
export const undeclaredDependencies = (names: ShippedNames, blueprint: ShippedBlueprint): ReadonlyArray<UndeclaredDependency> => {
  const { roles, subscriptionRoles } = blueprint.requirements
  const declared = new Set([...roles.map(({ name }) => name), ...subscriptionRoles])
  const collections = declaredCollections(blueprint)
  return sortedUnique(blueprint.references.roles).flatMap((role): ReadonlyArray<UndeclaredDependency> => {
    if (names.roles.has(role) || declared.has(role)) return []
    const parent = parentCollection(role)
    if (parent === undefined) return [{ blueprintID: blueprint.id, role, kind: "missing_role" }]
    if (names.collections.has(parent) || collections.has(parent)) return []
    return [{ blueprintID: blueprint.id, role, kind: "missing_collection", parentCollection: parent }]
  })
}
