import type { InstallPlan, ItemChange, PlannedBlueprint } from "./install-plan.ts"

/** A plan in its wire format: what would be installed, by name, and what happens to each item. */
export interface DryRunPlan {
  readonly sourceName: string
  readonly blueprintIDs: ReadonlyArray<string>
  readonly templates: ReadonlyArray<string>
  readonly localRoles: ReadonlyArray<string>
  readonly localCollections: ReadonlyArray<string>
  readonly galaxyRoles: ReadonlyArray<string>
  readonly galaxyCollections: ReadonlyArray<string>
  readonly subscriptionRoles: ReadonlyArray<string>
  /** Blueprints that the source no longer ships: they would be removed. */
  readonly prunedBlueprintIDs: ReadonlyArray<string>
  readonly items: ReadonlyArray<DryRunItem>
}

/** Kinds of items as named in failures in a source's status. */
export const installItemKinds = [
  "blueprint",
  "template",
  "local_role",
  "local_collection",
  "role",
  "collection",
  "subscription_role",
] as const
export type InstallItemKind = (typeof installItemKinds)[number]

export interface DryRunItem {
  readonly kind: InstallItemKind
  readonly name: string
  readonly version?: string
  readonly change: ItemChange | PlannedBlueprint["change"] | "remove"
  readonly reason?: string
}

const doing: ReadonlySet<DryRunItem["change"]> = new Set(["place", "replace", "create", "refresh"])

/** Converts a plan without carrying anything out. */
export const dryRunOf = (source: { readonly id: string; readonly name: string }, plan: InstallPlan): DryRunPlan => {
  const pruned = plan.pruned.map((id) => `${source.id}/${id}`)
  const items = itemsOf(plan, pruned)
  const done = (kind: InstallItemKind) =>
    items.filter((item) => item.kind === kind && doing.has(item.change)).map(({ name }) => name)
  return {
    sourceName: source.name,
    blueprintIDs: done("blueprint"),
    templates: done("template"),
    localRoles: done("local_role"),
    localCollections: done("local_collection"),
    galaxyRoles: done("role"),
    galaxyCollections: done("collection"),
    subscriptionRoles: done("subscription_role"),
    prunedBlueprintIDs: pruned,
    items,
  }
}

/** Kinds in failures, by kind of the item that a source ships. */
export const shippedItemKinds = { template: "template", role: "local_role", collection: "local_collection" } as const

const itemsOf = (plan: InstallPlan, pruned: ReadonlyArray<string>): ReadonlyArray<DryRunItem> => [
  ...plan.blueprints.map(({ publicId, blueprint, change, because }) =>
    item("blueprint", publicId, change, blueprint.version, because),
  ),
  ...pruned.map((id) => item("blueprint", id, "remove")),
  ...plan.artifacts.map(({ kind, name, version, change, because }) =>
    item(shippedItemKinds[kind], name, change, version, because),
  ),
  ...plan.roles.map(({ requirement: { name, src, version }, change }) => item("role", name ?? src ?? "", change, version)),
  ...plan.collections.map(({ requirement: { name, version }, change }) => item("collection", name ?? "", change, version)),
  ...plan.subscriptionRoles.map(({ name, there }) => item("subscription_role", name, there ? "keep" : "place")),
]

const item = (
  kind: InstallItemKind,
  name: string,
  change: DryRunItem["change"],
  version?: string,
  reason?: string,
): DryRunItem => ({
  kind,
  name,
  ...(version === undefined ? {} : { version }),
  change,
  ...(reason === undefined ? {} : { reason }),
})
