/** The plan of an installation from a source, as plain data. */
import type { Selection } from "../catalog/select.ts"
import type { UndeclaredDependency } from "../catalog/source-catalog.ts"
import type { ArtifactKind } from "../library/artifact.ts"
import type { CollectionRequirement, RoleRequirement, ShippedBlueprint } from "../source/content.ts"

/**
 * What happens to an item. `place`: nothing of its name exists yet · `replace`: it replaces the existing one, as requested · `keep`: it is
 * already there · `differs`: a different one of its name exists and stays, because replacing was not requested · `refuse`: it cannot be
 * installed; `because` says why.
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
  /** Only for `differs` and `refuse`. */
  readonly because?: string
}

/** A blueprint of the source, which is stored as its own row. */
export interface PlannedBlueprint {
  /** `<id of the source>/<id in its manifest>`: the id for clients. */
  readonly publicId: string
  readonly blueprint: Pick<ShippedBlueprint, "id" | "version">
  /** `refresh`: the row exists and is updated with what is shipped now. */
  readonly change: "create" | "refresh" | "keep" | "refuse"
  readonly because?: string
}

/** A requirement of blueprints that the source does not ship; each name occurs once. */
export interface PlannedRequirement<R> {
  /** The first declaration with a version, else the first. */
  readonly requirement: R
  /** All its declarations, in the order of blueprint ids. */
  readonly declared: ReadonlyArray<{ readonly blueprint: string; readonly requirement: R }>
  /** `place`: will be fetched. */
  readonly change: Exclude<ItemChange, "refuse">
}

/** A role that a requirement names by its full name and the source ships itself, so that it is not fetched. */
export interface VendoredRole {
  readonly name: string
  readonly version?: string
}

export interface InstallPlan {
  /** The selected items, with everything they need from the same source. */
  readonly selection: Selection
  /** In installation order: templates, roles, collections, each sorted by name. */
  readonly artifacts: ReadonlyArray<PlannedArtifact>
  /** Sorted by id. */
  readonly blueprints: ReadonlyArray<PlannedBlueprint>
  /** Manifest ids of installed blueprints that the source no longer ships; their rows are removed. */
  readonly pruned: ReadonlyArray<string>
  /** Empty if dependencies were not requested. */
  readonly roles: ReadonlyArray<PlannedRequirement<RoleRequirement>>
  readonly collections: ReadonlyArray<PlannedRequirement<CollectionRequirement>>
  readonly vendoredRoles: ReadonlyArray<VendoredRole>
  /** Names of subscription roles, with the blueprints that require them. */
  readonly subscriptionRoles: ReadonlyArray<{
    readonly name: string
    readonly by: ReadonlyArray<string>
    readonly there: boolean
  }>
  /** For all blueprints of the source, whatever was selected. */
  readonly undeclared: ReadonlyArray<UndeclaredDependency>
}

const idle: ReadonlySet<string> = new Set(["keep", "differs", "refuse"])

/** Whether the plan would change nothing. */
export const isNothingToDo = (plan: InstallPlan): boolean =>
  plan.pruned.length === 0 &&
  [...plan.artifacts, ...plan.blueprints, ...plan.roles, ...plan.collections].every(({ change }) => idle.has(change)) &&
  plan.subscriptionRoles.every(({ there }) => there)

/** An existing copy of this name at the place of installation. */
export interface PresentCopy {
  readonly name: string
  readonly version?: string
  /** Whether it equals what the source ships, if that was compared. */
  readonly same?: boolean
}

/** What exists at the place of installation: in the scope of one user, or globally. */
export interface Present {
  /** The user's: there are no global ones. */
  readonly templates: ReadonlyArray<PresentCopy>
  readonly roles: ReadonlyArray<PresentCopy>
  readonly collections: ReadonlyArray<PresentCopy>
  /** Names of global roles: subscription roles are always installed globally. */
  readonly globalRoles: ReadonlyArray<string>
  /** Rows of this source. */
  readonly blueprints: ReadonlyArray<PresentBlueprint>
  /** Public ids of all other blueprints. */
  readonly otherBlueprints: ReadonlySet<string>
  /** Names that a source's templates must not have. */
  readonly builtInTemplates: ReadonlySet<string>
  /** Names of other templates of other users, which a new template must not have. */
  readonly takenTemplates?: ReadonlySet<string>
}

export interface PresentBlueprint {
  readonly sourceBlueprintID: string
  /** Whether it was installed from the same snapshot as the one installed now. */
  readonly same: boolean
}
