/** The catalog of a source, in the words of the wire (specification 2.1 to 2.3). Fields marked optional are absent when empty. */
import type { NeededTemplate } from "../template/known-templates.ts"

export const installStates = ["not_installed", "installed", "upgrade_available"] as const
export type InstallState = (typeof installStates)[number]
/** Of what nobody can install: another item has its name, or something is wrong with it. Its entry has `problem`, which says what. */
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
  /** What any blueprint of the source declares, installed or not, also where the source ships it itself. */
  readonly requiredRoles: ReadonlyArray<CatalogItem>
  readonly requiredCollections: ReadonlyArray<CatalogItem>
  readonly subscriptionRoles: ReadonlyArray<CatalogItem>
  readonly undeclaredDependencies?: ReadonlyArray<UndeclaredDependency>
}

export interface CatalogBlueprint {
  readonly id: string
  readonly name: string
  readonly description?: string
  /** Empty where it cannot be read. */
  readonly version: string
  readonly state: InstallState | BrokenState
  readonly problem?: string
  readonly installedVersion?: string
  /** Templates that the configuration names, whether or not the source ships them. */
  readonly requiredTemplates?: ReadonlyArray<string>
  /** Ours: how it is with each of those. */
  readonly templateStatus?: ReadonlyArray<NeededTemplate>
  /** Canonical names of the roles that the configuration names and the source ships. */
  readonly requiredLocalRoles?: ReadonlyArray<string>
  /** As declared, in the order of the file. */
  readonly requiredRoles?: ReadonlyArray<string>
  readonly requiredCollections?: ReadonlyArray<string>
}

/** A template, a role or a collection. Which fields it can have depends on the list that it is in. */
export interface CatalogItem {
  readonly name: string
  readonly description?: string
  /** What is shipped, or the pin that copies are compared with. */
  readonly version?: string
  /** That of the first of the scopes. */
  readonly state: InstallState | BrokenState
  readonly problem?: string
  /** Ours, of templates: whether machines can be cloned from it. */
  readonly status?: NeededTemplate["status"]
  readonly installedVersion?: string
  /** True where a copy is global; otherwise absent. */
  readonly global?: true
  /** Each copy that is installed: global ones first. */
  readonly scopes?: ReadonlyArray<CatalogScope>
  /** Only of collections from git, as is `fqcn`. */
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

/** A role that a blueprint's configuration names and neither the source nor the blueprint's requirements provide. */
export type UndeclaredDependency =
  | { readonly blueprintID: string; readonly role: string; readonly kind: "missing_role" }
  | {
      readonly blueprintID: string
      readonly role: string
      readonly kind: "missing_collection"
      /** The collection that the role is of: the first two parts of its name. */
      readonly parentCollection: string
    }

/** An entry of a catalog before the viewer's copies are looked for. */
export interface SurveyedItem {
  readonly item: Omit<CatalogItem, "state" | "problem" | "status" | "installedVersion" | "global" | "scopes">
  /** What a copy of it may be called; none where that cannot be told. */
  readonly copiedAs: ReadonlyArray<string>
  /** What copies are compared with; undefined: that one is there is enough. */
  readonly pin: string | undefined
  /** The pin says nothing about versions: a branch or a commit. */
  readonly unknowable: boolean
}
