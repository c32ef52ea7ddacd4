/** What the blueprints of a source together need: all of a catalog that does not depend on who looks at it. */
import { compareNames, type ShippedBlueprint, type SourceContent } from "../source/content.ts"
import { type Needs, needsOf, shippedNames } from "./needs.ts"
import { addDeclarations, type Requirement, sortRequirements } from "./required.ts"
import type { UndeclaredDependency } from "./source-catalog.ts"

export interface SourceSurvey {
  /** In the order of their ids. */
  readonly blueprints: ReadonlyArray<{ readonly blueprint: ShippedBlueprint; readonly needs: Needs }>
  /** What blueprints declare, sorted by name. */
  readonly roles: ReadonlyArray<Requirement>
  readonly collections: ReadonlyArray<Requirement>
  readonly subscriptionRoles: ReadonlyArray<Requirement>
  /** By canonical name of a shipped role: ids of the blueprints whose configurations name it, sorted. */
  readonly rolesBy: ReadonlyMap<string, ReadonlyArray<string>>
  readonly collectionsBy: ReadonlyMap<string, ReadonlyArray<string>>
  readonly undeclared: ReadonlyArray<UndeclaredDependency>
}

/** Takes time in proportion to the references. Good for as long as the content is: a source that is asked often is surveyed once. */
export const surveySource = (content: SourceContent): SourceSurvey => {
  const names = shippedNames(content)
  const [roles, collections, subscriptionRoles] = [
    new Map<string, Requirement>(),
    new Map<string, Requirement>(),
    new Map<string, Requirement>(),
  ]
  const [rolesBy, collectionsBy] = [new Map<string, Array<string>>(), new Map<string, Array<string>>()]
  const blueprints = content.blueprints
    .toSorted((a, b) => compareNames(a.id, b.id))
    .map((blueprint) => {
      const { id, requirements } = blueprint
      const needs = needsOf(names, blueprint)
      addDeclarations(roles, id, requirements.roles)
      addDeclarations(collections, id, requirements.collections)
      addDeclarations(
        subscriptionRoles,
        id,
        requirements.subscriptionRoles.map((name) => ({ name })),
      )
      addUser(rolesBy, needs.configRoles, id)
      addUser(collectionsBy, needs.collections, id)
      return { blueprint, needs }
    })
  return {
    blueprints,
    roles: sortRequirements(roles),
    collections: sortRequirements(collections),
    subscriptionRoles: sortRequirements(subscriptionRoles),
    rolesBy,
    collectionsBy,
    undeclared: blueprints.flatMap(({ needs }) => needs.undeclared),
  }
}

const addUser = (users: Map<string, Array<string>>, used: ReadonlyArray<string>, user: string): void => {
  for (const name of used) {
    const known = users.get(name)
    if (known === undefined) users.set(name, [user])
    else known.push(user)
  }
}
