/** What taking things of a source away would do. */
import { sortedUnique } from "../catalog/needs.ts"
import { guessCollection } from "../source/names.ts"
import type { ConfigReferences, Requirements } from "../source/content.ts"
import type { InstallItemKind } from "./dry-run.ts"

/** Something that was installed from a source, in one scope. */
export interface InstalledItem {
  readonly kind: InstallItemKind
  /** A blueprint's public id. */
  readonly name: string
  /** Other names that configurations know it by. */
  readonly aliases?: ReadonlyArray<string>
  /** Public ids of other sources that brought it into the same scope too. */
  readonly otherSources: ReadonlyArray<string>
}

/** An installed blueprint, and what it names. */
export interface BlueprintNeeds {
  /** The public id. */
  readonly id: string
  readonly references: ConfigReferences
  readonly requirements: Requirements
}

export interface PlannedRemoval {
  readonly item: InstalledItem
  /** `refuse`: somebody still needs it. */
  readonly change: "remove" | "refuse"
  /** Who needs it, also where it is removed in spite of that. */
  readonly because?: string
}

/**
 * Each item that goes, and each that stays because an installed blueprint names it or another source brought it too; with `force` all go.
 * Blueprints that go in the same call need nothing any more.
 */
export const planUninstall = (
  items: ReadonlyArray<InstalledItem>,
  blueprints: ReadonlyArray<BlueprintNeeds>,
  force: boolean,
): ReadonlyArray<PlannedRemoval> => {
  const going = new Set(items.flatMap(({ kind, name }) => (kind === "blueprint" ? [name] : [])))
  const staying = blueprints.filter(({ id }) => !going.has(id)).map(neededBy)
  return items.map((item) => {
    const names = [item.name, ...(item.aliases ?? [])]
    const needing = staying.filter(({ needs }) => names.some((name) => needs[neededAs[item.kind]].has(name))).map(({ id }) => id)
    const users = [
      ...sortedUnique(needing.toSorted()).map((id) => `blueprint ${id} needs it`),
      ...sortedUnique([...item.otherSources].toSorted()).map((id) => `source ${id} brought it too`),
    ]
    if (users.length === 0) return { item, change: "remove" }
    return { item, change: force ? "remove" : "refuse", because: users.join("; ") }
  })
}

type Named = "templates" | "roles" | "collections" | "nothing"

const neededAs: Readonly<Record<InstallItemKind, Named>> = {
  blueprint: "nothing",
  template: "templates",
  local_role: "roles",
  role: "roles",
  subscription_role: "roles",
  local_collection: "collections",
  collection: "collections",
}

const nobody: ReadonlySet<string> = new Set()

/** Everything that a blueprint names, by what it can be. A role that is named with its collection needs the collection. */
const neededBy = ({
  id,
  references,
  requirements,
}: BlueprintNeeds): { readonly id: string; readonly needs: Readonly<Record<Named, ReadonlySet<string>>> } => {
  const named = (list: ReadonlyArray<{ readonly name?: string }>) =>
    list.flatMap(({ name }) => (name === undefined ? [] : [name]))
  const collections = named(requirements.collections)
  return {
    id,
    needs: {
      nothing: nobody,
      templates: new Set(references.templates),
      roles: new Set([...references.roles, ...named(requirements.roles), ...requirements.subscriptionRoles]),
      collections: new Set([
        ...collections,
        ...collections.flatMap((name) => guessCollection(name) ?? []),
        ...references.roles.flatMap((role) => parentCollection(role) ?? []),
      ]),
    },
  }
}

const parentCollection = (role: string): string | undefined => {
  const [namespace, name, ...rest] = role.split(".")
  return rest.length === 0 ? undefined : `${namespace}.${name}`
}
