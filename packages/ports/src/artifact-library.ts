import type { ArtifactKind, InstalledCopy, RecordId, TemplateDefinition, TemplateTold, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ContentFault, LibraryFault } from "./faults.ts"

/**
 * Whose copy it is: one user's, or everybody's. Ids of users are given again: what is brought for a user names the record too, so that
 * none who has the id later gets it.
 */
export type LibraryScope =
  | { readonly type: "user"; readonly userId: UserId; readonly recordId?: RecordId }
  | { readonly type: "global" }

/** A user of the library who goes. */
export interface LeavingUser {
  readonly id: UserId
  readonly recordId: RecordId
}

export type { ArtifactKind } from "@rangewright/domain"

/** One installed thing; templates are builder files: a user's, or, as global ones, those that come with the service. The name is the template's VM name, the role's name, or `<namespace>.<name>` of a collection. */
export interface ArtifactRef {
  readonly scope: LibraryScope
  readonly kind: ArtifactKind
  readonly name: string
}

/** One file or link of what is to be installed; paths are relative to its folder. */
export type ArtifactEntry =
  | {
      readonly kind: "file"
      readonly path: string
      readonly size: number
      readonly executable: boolean
      readonly read: Effect.Effect<Uint8Array, ContentFault>
    }
  | { readonly kind: "link"; readonly path: string; readonly target: string }

/**
 * `placed`: it is there now, where nothing was · `replaced`: it took the place of another · `kept`: the same was there already ·
 * `differs`: something else of this name was there and stays, because replacing it was not asked for.
 */
export type PlaceOutcome = "placed" | "replaced" | "kept" | "differs"

export interface PlaceOptions {
  readonly version?: string
  readonly description?: string
  /** Of a template: what lists tell of it. It is read once, before, and kept beside its files. */
  readonly template?: TemplateTold
  /** Whether it takes the place of another of its name. */
  readonly replace: boolean
}

/** What one installed thing takes of the host's disk (`treeBytes`). */
export interface ArtifactSize extends Pick<ArtifactRef, "kind" | "name"> {
  readonly bytes: number
}

/** What one scope holds; each list is sorted by name. */
export interface ScopeListing {
  readonly templates: readonly TemplateDefinition[]
  /** A role is a folder with `meta/main.yml` or `.yaml`; its version is that of its receipt. */
  readonly roles: readonly InstalledCopy[]
  readonly collections: readonly InstalledCopy[]
}

/**
 * Templates, roles and collections as they lie ready for a build or a deploy, in the layout that Ansible and Packer search. Each change
 * is all or nothing: a process that dies leaves the old copy or the new one. A name that could lead out of its folder is a fault, also
 * where it is only looked for.
 */
export class ArtifactLibrary extends Context.Service<
  ArtifactLibrary,
  {
    readonly list: (scope: LibraryScope) => Effect.Effect<ScopeListing, LibraryFault>
    /**
     * Everything in it, in no order. Cheap: a copy is counted once, and again after it was replaced; what is changed by hand inside one is
     * not noticed. Of what comes with the service, nothing.
     */
    readonly sizes: (scope: LibraryScope) => Effect.Effect<readonly ArtifactSize[], LibraryFault>
    /**
     * Installs a copy. `version` is written as its receipt where it is known. A role without metadata gets minimal ones, a collection
     * without a manifest one that its `galaxy.yml` tells. The receipts that this writes do not count when a copy is
     * compared with what is there.
     */
    readonly place: (
      artifact: ArtifactRef,
      entries: readonly ArtifactEntry[],
      options: PlaceOptions,
    ) => Effect.Effect<PlaceOutcome, LibraryFault | ContentFault>
    /** False when it was not there. */
    readonly remove: (artifact: ArtifactRef) => Effect.Effect<boolean, LibraryFault>
    /** Another scope gets a copy, or the thing itself. `LibraryFault` `missing` or `exists` where there is none, or one already. */
    readonly transfer: (artifact: ArtifactRef, to: LibraryScope, mode: "copy" | "move") => Effect.Effect<void, LibraryFault>
    /** What is in it, sorted by path; undefined: it is not there. */
    readonly files: (artifact: ArtifactRef) => Effect.Effect<readonly ArtifactEntry[] | undefined, LibraryFault>
    /**
     * Removes the user's artifacts, then runs `last`, under the lock of the library. From then on nothing is placed for this record, even if
     * that began before: `LibraryFault` `missing`. If `last` fails, the artifacts are gone and the user may install others.
     */
    readonly removeUser: <E, R>(user: LeavingUser, last: Effect.Effect<void, E, R>) => Effect.Effect<void, LibraryFault | E, R>
  }
>()("rangewright/ArtifactLibrary") {}
