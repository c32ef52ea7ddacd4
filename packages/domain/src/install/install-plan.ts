/** What an installation from a source will do, as plain data. */
import type { Selection } from "../catalog/select.ts"
import type { UndeclaredDependency } from "../catalog/source-catalog.ts"
import type { ArtifactKind } from "../library/artifact.ts"
import type { CollectionRequirement, RoleRequirement, ShippedBlueprint } from "../source/content.ts"

/**
 * What will become of one item. `place`: nothing of its name is there · `replace`: it takes the place of what is there, as was asked ·
 * `keep`: it is there already · `differs`: something else of its name is there and stays, because replacing it was not asked for ·
 * `refuse`: it cannot be installed; `because` says why.
 */
export type ItemChange = "place" | "replace" | "keep" | "differs" | "refuse"

/** A template, role or collection that the source ships. */
export interface PlannedArtifact {
  readonly kind: ArtifactKind
  readonly name: string
  /** Path from the root of the source. */
  readonly directory: string
  readonly description?: string
  readonly version?: string
  readonly change: ItemChange
  /** Only of what differs or is refused. */
  readonly because?: string
}

/** A blueprint of the source, which gets a row of its own. */
export interface PlannedBlueprint {
  /** `<id of the source>/<id in its manifest>`: what clients call it. */
  readonly publicId: string
  readonly blueprint: Pick<ShippedBlueprint, "id" | "version">
  /** `refresh`: the row is there and takes over what is shipped now. */
  readonly change: "create" | "refresh" | "keep" | "refuse"
  readonly because?: string
}

/** Something that blueprints require and the source does not ship: each name once. */
export interface PlannedRequirement<R> {
  /** The first declaration that has a version, or else the first. */
  readonly requirement: R
  /** Every declaration of it, in the order of the blueprints' ids. */
  readonly declared: ReadonlyArray<{ readonly blueprint: string; readonly requirement: R }>
  /** `place`: to be fetched. */
  readonly change: Exclude<ItemChange, "refuse">
}

/** A role that a requirement names by its full name and the source ships itself: nothing is fetched for it. */
export interface VendoredRole {
  readonly name: string
  readonly version?: string
}

export interface InstallPlan {
  /** What was asked for, with everything of the same source that it needs. */
  readonly selection: Selection
  /** In the order in which they are installed: templates, roles, collections, each sorted by name. */
  readonly artifacts: ReadonlyArray<PlannedArtifact>
  /** Sorted by id. */
  readonly blueprints: ReadonlyArray<PlannedBlueprint>
  /** Manifest ids of installed blueprints that the source no longer ships: their rows go. */
  readonly pruned: ReadonlyArray<string>
  /** Empty where dependencies were not asked for. */
  readonly roles: ReadonlyArray<PlannedRequirement<RoleRequirement>>
  readonly collections: ReadonlyArray<PlannedRequirement<CollectionRequirement>>
  readonly vendoredRoles: ReadonlyArray<VendoredRole>
  /** Names of subscription roles, with the blueprints that want them. */
  readonly subscriptionRoles: ReadonlyArray<{
    readonly name: string
    readonly by: ReadonlyArray<string>
    readonly there: boolean
  }>
  /** Of all blueprints of the source, whatever was selected. */
  readonly undeclared: ReadonlyArray<UndeclaredDependency>
}

const idle: ReadonlySet<string> = new Set(["keep", "differs", "refuse"])

/** Whether carrying the plan out would change nothing. */
export const isNothingToDo = (plan: InstallPlan): boolean =>
  plan.pruned.length === 0 &&
  [...plan.artifacts, ...plan.blueprints, ...plan.roles, ...plan.collections].every(({ change }) => idle.has(change)) &&
  plan.subscriptionRoles.every(({ there }) => there)

/** Something of this name lies where it is to be installed. */
export interface PresentCopy {
  readonly name: string
  readonly version?: string
  /** Whether it is what the source ships, where somebody looked. */
  readonly same?: boolean
}

/** What is there, where the installation goes: in the scope of one user, or globally. */
export interface Present {
  /** Of the user: there are no global ones. */
  readonly templates: ReadonlyArray<PresentCopy>
  readonly roles: ReadonlyArray<PresentCopy>
  readonly collections: ReadonlyArray<PresentCopy>
  /** Names of global roles: where subscription roles go, whoever installs. */
  readonly globalRoles: ReadonlyArray<string>
  /** Rows of this source. */
  readonly blueprints: ReadonlyArray<PresentBlueprint>
  /** Public ids of all other blueprints. */
  readonly otherBlueprints: ReadonlySet<string>
  /** Names that no template of a source may take. */
  readonly builtInTemplates: ReadonlySet<string>
}

export interface PresentBlueprint {
  readonly sourceBlueprintID: string
  /** Whether it was installed from the very state that is installed from now. */
  readonly same: boolean
}
