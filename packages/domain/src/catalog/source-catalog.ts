/** The catalog of a source in its wire format (specification 2.1 to 2.3). Optional fields are absent when empty. */
import type { NeededTemplate } from "../template/known-templates.ts"

export const installStates = ["not_installed", "installed", "upgrade_available"] as const
export type InstallState = (typeof installStates)[number]
/** States of items that cannot be installed: another item has the same name, or the item is invalid. `problem` in the entry says why. */
export const brokenStates = ["conflict", "invalid"] as const
export type BrokenState = (typeof brokenStates)[number]
export type InstallScope = "global" | "user"

export interface SourceCatalog {
  readonly sourceID: string
  readonly sourceName: string
  readonly description?: string
  /** `git` or `upload`. */
  readonly sourceType?: string
  /** `YYYY-MM-DD HH:MM:SS.mmmZ`. */
  readonly lastSyncedAt?: string
  readonly blueprints: CatalogBlueprints
  readonly templates: ReadonlyArray<CatalogItem>
  readonly localRoles: ReadonlyArray<CatalogItem>
  readonly localCollections: ReadonlyArray<CatalogItem>
}

export interface CatalogBlueprints {
  readonly items: ReadonlyArray<CatalogBlueprint>
  /** What the source's blueprints declare, installed or not, even if the source ships it. */
  readonly requiredRoles: ReadonlyArray<CatalogItem>
  readonly requiredCollections: ReadonlyArray<CatalogItem>
  readonly subscriptionRoles: ReadonlyArray<CatalogItem>
  readonly undeclaredDependencies?: ReadonlyArray<UndeclaredDependency>
}

export interface CatalogBlueprint {
  readonly id: string
  readonly name: string
  readonly description?: string
  /** Empty if it cannot be read. */
  readonly version: string
  readonly state: InstallState | BrokenState
  readonly problem?: string
  readonly installedVersion?: string
  /** Templates that the configuration names, whether or not the source ships them. */
  readonly requiredTemplates?: ReadonlyArray<string>
  /** Our extension: the status of each of those. */
  readonly templateStatus?: ReadonlyArray<NeededTemplate>
  /** Canonical names of the roles that the configuration names and the source ships. */
  readonly requiredLocalRoles?: ReadonlyArray<string>
  /** As declared, in the order of the file. */
  readonly requiredRoles?: ReadonlyArray<string>
  readonly requiredCollections?: ReadonlyArray<string>
}

/** A template, a role or a collection. The possible fields depend on the list that it is in. */
export interface CatalogItem {
  readonly name: string
  readonly description?: string
  /** The shipped version, or the pin that copies are compared with. */
  readonly version?: string
  /** The state of the first scope. */
  readonly state: InstallState | BrokenState
  readonly problem?: string
  /** Our extension, for templates: whether machines can be cloned from it. */
  readonly status?: NeededTemplate["status"]
  readonly installedVersion?: string
  /** True if a copy is global; otherwise absent. */
  readonly global?: true
  /** The installed copies, global ones first. */
  readonly scopes?: ReadonlyArray<CatalogScope>
  /** Only for collections from git, as is `fqcn`. */
  readonly type?: "git"
  readonly fqcn?: string
  /** Ids of blueprints, sorted. */
  readonly requiredBy?: ReadonlyArray<string>
  /** The pin of each blueprint that has one. */
  readonly versionByBlueprint?: Readonly<Record<string, string>>
}

export interface CatalogScope {
  readonly scope: InstallScope
  readonly version?: string
  readonly state: Exclude<InstallState, "not_installed">
}

/** A role that a blueprint's configuration names but neither the source nor the blueprint's requirements provide. */
export type UndeclaredDependency =
  | { readonly blueprintID: string; readonly role: string; readonly kind: "missing_role" }
  | {
      readonly blueprintID: string
      readonly role: string
      readonly kind: "missing_collection"
      /** The collection that contains the role: the first two parts of its name. */
      readonly parentCollection: string
    }

/** A catalog entry before it is compared with the viewer's copies. */
export interface SurveyedItem {
  readonly item: Omit<CatalogItem, "state" | "problem" | "status" | "installedVersion" | "global" | "scopes">
  /** Names that an installed copy may have; empty if unknown. */
  readonly copiedAs: ReadonlyArray<string>
  /** The version that copies are compared with; undefined if any copy will do. */
  readonly pin: string | undefined
  /** The pin is not a version: a branch or a commit. */
  readonly unknowable: boolean
}
