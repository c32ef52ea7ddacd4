import type { ArtifactKind, InstalledCopy, RecordId, TemplateDefinition, TemplateTold, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ContentFault, LibraryFault } from "./faults.ts"

/**
 * Whom a copy belongs to: one user, or everybody. User ids are reused, so installing for a user also names the record: a later user with
 * the same id must not get it.
 */
export type LibraryScope =
  | { readonly type: "user"; readonly userId: UserId; readonly recordId?: RecordId }
  | { readonly type: "global" }

/** A user who is being removed. */
export interface LeavingUser {
  readonly id: UserId
  readonly recordId: RecordId
}

export type { ArtifactKind } from "@rangewright/domain"

/**
 * One installed artifact; templates are builder files: a user's, or, as global ones, those shipped with the service. The name is the
 * template's VM name, the role's name, or a collection's `<namespace>.<name>`.
 */
export interface ArtifactRef {
  readonly scope: LibraryScope
  readonly kind: ArtifactKind
  readonly name: string
}

/** One file or link to install; paths are relative to the artifact's folder. */
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
 * `placed`: nothing was there before · `replaced`: it replaced another one · `kept`: the same was already there · `differs`: a different
 * one of this name was there and stays, because replacing was not requested.
 */
export type PlaceOutcome = "placed" | "replaced" | "kept" | "differs"

export interface PlaceOptions {
  readonly version?: string
  readonly description?: string
  /** For a template: its details for lists. Read once, before placing, and stored next to its files. */
  readonly template?: TemplateTold
  /** Whether to replace another one of the same name. */
  readonly replace: boolean
}

/** Disk space used by one installed artifact (`treeBytes`). */
export interface ArtifactSize extends Pick<ArtifactRef, "kind" | "name"> {
  readonly bytes: number
}

/** The artifacts in one scope; each list is sorted by name. */
export interface ScopeListing {
  readonly templates: readonly TemplateDefinition[]
  /** A role is a folder with `meta/main.yml` or `.yaml`; its version comes from its receipt. */
  readonly roles: readonly InstalledCopy[]
  readonly collections: readonly InstalledCopy[]
}

/**
 * Installed templates, roles and collections, ready for a build or a deploy, in the layout that Ansible and Packer search. Each change is
 * all or nothing: after a crash, either the old copy or the new one is there. A name that could lead out of its folder is a fault, even for
 * a lookup.
 */
export class ArtifactLibrary extends Context.Service<
  ArtifactLibrary,
  {
    readonly list: (scope: LibraryScope) => Effect.Effect<ScopeListing, LibraryFault>
    /**
     * The sizes of everything in a scope, unordered. Cheap: a copy is measured once, and again after it was replaced; manual changes inside
     * one are not noticed. Artifacts shipped with the service do not count.
     */
    readonly sizes: (scope: LibraryScope) => Effect.Effect<readonly ArtifactSize[], LibraryFault>
    /**
     * Installs a copy. `version`, if known, is written as its receipt. A role without metadata gets a minimal file, a collection without a
     * manifest gets one made from its `galaxy.yml`. These written files are ignored when a copy is compared with an installed one.
     */
    readonly place: (
      artifact: ArtifactRef,
      entries: readonly ArtifactEntry[],
      options: PlaceOptions,
    ) => Effect.Effect<PlaceOutcome, LibraryFault | ContentFault>
    /** False if it was not installed. */
    readonly remove: (artifact: ArtifactRef) => Effect.Effect<boolean, LibraryFault>
    /**
     * Copies or moves an artifact to another scope. `LibraryFault` `missing` if it is not installed, `exists` if the target scope already
     * has one.
     */
    readonly transfer: (artifact: ArtifactRef, to: LibraryScope, mode: "copy" | "move") => Effect.Effect<void, LibraryFault>
    /** Its files, sorted by path; undefined if it is not installed. */
    readonly files: (artifact: ArtifactRef) => Effect.Effect<readonly ArtifactEntry[] | undefined, LibraryFault>
    /**
     * Removes the user's artifacts, then runs `last`, under the library's lock. From then on nothing is placed for this record, even if the
     * call began before: `LibraryFault` `missing`. If `last` fails, the artifacts are gone and the user may install others.
     */
    readonly removeUser: <E, R>(user: LeavingUser, last: Effect.Effect<void, E, R>) => Effect.Effect<void, LibraryFault | E, R>
  }
>()("rangewright/ArtifactLibrary") {}
