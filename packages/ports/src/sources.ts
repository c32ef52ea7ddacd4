import type {
  RecordId,
  SnapshotId,
  Source,
  SourceDraft,
  SourceExists,
  SourceId,
  SourceManifest,
  SourceMoved,
  SourceNotFound,
  SourceOrigin,
  SourceStatus,
  UserId,
  UserNotFound,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LibraryScope } from "./artifact-library.ts"
import type { StorageFault } from "./faults.ts"

/** The name applies until the manifest gives another one. */
export type NewSource = SourceDraft & {
  /** Sealed credentials; undefined if it needs none. */
  readonly access: string | undefined
}

/**
 * Absent keys keep their value; undefined removes it. `access` is sealed. Changing the origin leaves the source without content until the
 * next fetch, unless only the ref changes.
 */
export type SourceChange = Partial<SourceOrigin & Pick<NewSource, "access" | "schedule" | "nextSyncAt">>

/** How a sync or an install ended. */
export interface SourceOutcome {
  readonly status: SourceStatus
  /** What failed, for display; empty if nothing did. */
  readonly error: string
}

/** Content that was fetched for a source. */
export interface SyncResult {
  readonly snapshot: SnapshotId
  /** Absent: the content was already there. */
  readonly syncedAt?: Date
  /** Absent: the stored manifest data stays. */
  readonly manifest?: SourceManifest
  /** Absent: it was neither a sync nor an install. */
  readonly outcome?: SourceOutcome
}

/** Kinds of artifacts installed from a source: `local` ones are part of it, the others are named in the requirements of its blueprints. */
export const claimKinds = [
  "template",
  "local-role",
  "local-collection",
  "galaxy-role",
  "galaxy-collection",
  "subscription-role",
] as const
export type ClaimKind = (typeof claimKinds)[number]

/** Maximum length of the name of a claim. */
export const longestClaimName = 500

/** An artifact that was installed from a source. Several sources may claim the same one. */
export interface SourceClaim {
  readonly kind: ClaimKind
  readonly name: string
  /** Empty if unknown. */
  readonly version: string
  readonly scope: LibraryScope
}

/** A claim with the source that makes it. */
export interface ClaimOfSource extends SourceClaim {
  readonly source: Pick<Source, "recordId" | "id">
}

/**
 * Sources, their content, and what was installed from them. Unique by id. Credentials are stored separately: only `access` returns them.
 * Removing a user removes the user's sources and claims. Writes name the record, because a source that was recreated under an old id is a
 * different one.
 */
export class Sources extends Context.Service<
  Sources,
  {
    readonly find: (id: SourceId) => Effect.Effect<Source | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<Source | undefined, StorageFault>
    /** Newest first, then ascending by id. `owner` selects that user's. */
    readonly list: (filter?: { readonly owner?: UserId }) => Effect.Effect<readonly Source[], StorageFault>
    /** `UserNotFound` for an owner that does not exist. */
    readonly create: (source: NewSource) => Effect.Effect<Source, SourceExists | UserNotFound | StorageFault>
    readonly change: (id: RecordId, change: SourceChange) => Effect.Effect<Source, SourceNotFound | StorageFault>
    /** Its credentials, sealed; undefined if none were given. */
    readonly access: (id: RecordId) => Effect.Effect<string | undefined, StorageFault>
    /**
     * Stores new content and everything that comes with it, in one write. `SourceMoved` if the source's origin is no longer the one in
     * `source`, from which the content was fetched.
     */
    readonly commitSync: (
      source: Pick<Source, "recordId" | "id"> & SourceOrigin,
      result: SyncResult,
    ) => Effect.Effect<Source, SourceNotFound | SourceMoved | StorageFault>
    /** Stores only the outcome; does nothing if the source is gone. */
    readonly setOutcome: (id: RecordId, outcome: SourceOutcome) => Effect.Effect<void, StorageFault>
    /** Also removes its claims. */
    readonly remove: (id: RecordId) => Effect.Effect<void, StorageFault>
    /** The same, only if it has no content and still comes from this origin. Whether it was removed. */
    readonly removeUnfetched: (source: Pick<Source, "recordId"> & SourceOrigin) => Effect.Effect<boolean, StorageFault>
    /** Sources whose next sync is due, longest overdue first. */
    readonly due: (now: Date) => Effect.Effect<readonly Source[], StorageFault>
    /**
     * Moves the next sync from one time to another. False if it was no longer scheduled for `from`: somebody else took it, or it was
     * changed.
     */
    readonly postpone: (id: RecordId, from: Date, to: Date) => Effect.Effect<boolean, StorageFault>
    /** Ascending by kind, name and scope: global ones first, then each user's. */
    readonly claims: (id: RecordId) => Effect.Effect<readonly SourceClaim[], StorageFault>
    /**
     * The claims of all sources, ascending by the source's id. Fails if one cannot be read, because whatever nobody claims may be removed.
     */
    readonly allClaims: Effect.Effect<readonly ClaimOfSource[], StorageFault>
    /**
     * Adds claims; for an existing one, updates the version. All or nothing. Skips claims of users that do not exist, and names longer than
     * `longestClaimName`.
     */
    readonly claim: (id: RecordId, claims: readonly SourceClaim[]) => Effect.Effect<void, SourceNotFound | StorageFault>
    /** The artifact is gone: removes all claims on it in this scope. */
    readonly release: (kinds: readonly ClaimKind[], name: string, scope: LibraryScope) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Sources") {}
