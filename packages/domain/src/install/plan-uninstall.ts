/** Plans the removal of items of a source. */
import { parentCollection, sortedUnique } from "../catalog/needs.ts"
import { guessCollection } from "../source/names.ts"
import type { ConfigReferences, Requirements } from "../source/content.ts"
import type { InstallItemKind } from "./dry-run.ts"

/** An item that was installed from a source in one scope. */
export interface InstalledItem {
  readonly kind: InstallItemKind
  /** A blueprint's public id. */
  readonly name: string
  /** Other names for it in configurations. */
  readonly aliases?: ReadonlyArray<string>
  /** Public ids of other sources that also installed it in the same scope. */
  readonly otherSources: ReadonlyArray<string>
}

/** An installed blueprint with its references and requirements. */
export interface BlueprintNeeds {
  /** The public id. */
  readonly id: string
  readonly references: ConfigReferences
  readonly requirements: Requirements
}

export interface PlannedRemoval {
  readonly item: InstalledItem
  /** `refuse`: it is still needed. */
  readonly change: "remove" | "refuse"
  /** Who needs it, even if it is removed anyway. */
  readonly because?: string
}

/**
 * Decides for each item whether it is removed, or stays because an installed blueprint names it or another source installed it too; with
 * `force` all are removed. Blueprints removed in the same call no longer count.
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
      ...sortedUnique([...item.otherSources].toSorted()).map((id) => `source ${id} also provides it`),
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

/** Everything that a blueprint names, by kind. A role with a collection in its name needs the collection. */
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
