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

/** Its name is that until its manifest says another one. */
export type NewSource = SourceDraft & {
  /** Sealed; undefined: it needs none. */
  readonly access: string | undefined
}

/**
 * Absent keys keep their value; what is undefined is none from now on. `access` is sealed. A change of the origin leaves the source without
 * content until the next fetch, unless only the ref changes.
 */
export type SourceChange = Partial<SourceOrigin & Pick<NewSource, "access" | "schedule" | "nextSyncAt">>

/** How a sync or an install ended. */
export interface SourceOutcome {
  readonly status: SourceStatus
  /** What failed, for people; empty where nothing did. */
  readonly error: string
}

/** Content that was fetched for a source. */
export interface SyncResult {
  readonly snapshot: SnapshotId
  /** Absent: the content was there before. */
  readonly syncedAt?: Date
  /** Absent: what the source says of itself stays as it was read before. */
  readonly manifest?: SourceManifest
  /** Absent: this was no sync or install. */
  readonly outcome?: SourceOutcome
}

/** What a source brought: `local` things lie in it, the others are named by requirements of its blueprints. */
export const claimKinds = [
  "template",
  "local-role",
  "local-collection",
  "galaxy-role",
  "galaxy-collection",
  "subscription-role",
] as const
export type ClaimKind = (typeof claimKinds)[number]

/** Characters that the name of a claim may have. */
export const longestClaimName = 500

/** A thing that was installed from a source. Several sources may claim one thing. */
export interface SourceClaim {
  readonly kind: ClaimKind
  readonly name: string
  /** Empty where none is known. */
  readonly version: string
  readonly scope: LibraryScope
}

/** A claim with the source that makes it. */
export interface ClaimOfSource extends SourceClaim {
  readonly source: Pick<Source, "recordId" | "id">
}

/**
 * Sources, the content they have, and what was installed from them. Unique by id. Credentials are kept beside a source: no read but
 * `access` returns them. Removing a user removes the user's sources and claims. Writes name the record: a source that was made anew under
 * an old id is another one.
 */
export class Sources extends Context.Service<
  Sources,
  {
    readonly find: (id: SourceId) => Effect.Effect<Source | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<Source | undefined, StorageFault>
    /** The newest first, then ascending by id. `owner` narrows to that user's. */
    readonly list: (filter?: { readonly owner?: UserId }) => Effect.Effect<readonly Source[], StorageFault>
    /** `UserNotFound` for an owner that does not exist. */
    readonly create: (source: NewSource) => Effect.Effect<Source, SourceExists | UserNotFound | StorageFault>
    readonly change: (id: RecordId, change: SourceChange) => Effect.Effect<Source, SourceNotFound | StorageFault>
    /** What opens it, sealed; undefined: nothing was given. */
    readonly access: (id: RecordId) => Effect.Effect<string | undefined, StorageFault>
    /**
     * The source has this content from now on, with all that comes with it in one write. `SourceMoved` when `source` has another origin by
     * now than the one that the content was fetched from.
     */
    readonly commitSync: (
      source: Pick<Source, "recordId" | "id"> & SourceOrigin,
      result: SyncResult,
    ) => Effect.Effect<Source, SourceNotFound | SourceMoved | StorageFault>
    /** Only how it ended; a source that is gone has no outcome. */
    readonly setOutcome: (id: RecordId, outcome: SourceOutcome) => Effect.Effect<void, StorageFault>
    /** With its claims. */
    readonly remove: (id: RecordId) => Effect.Effect<void, StorageFault>
    /** Those whose next sync is due, the longest due first. */
    readonly due: (now: Date) => Effect.Effect<readonly Source[], StorageFault>
    /** Moves the next sync from one time to another. False when it was no longer due then: somebody else takes care of it, or it was changed. */
    readonly postpone: (id: RecordId, from: Date, to: Date) => Effect.Effect<boolean, StorageFault>
    /** Ascending by kind, name and scope: everybody's first, then each user's. */
    readonly claims: (id: RecordId) => Effect.Effect<readonly SourceClaim[], StorageFault>
    /** Those of all sources, ascending by the source's id. Fails when one cannot be read: what nobody claims may be removed. */
    readonly allClaims: Effect.Effect<readonly ClaimOfSource[], StorageFault>
    /** Adds them; of one that was there the version changes. All or nothing. Left out are claims of users that do not exist, and longer names than `longestClaimName`. */
    readonly claim: (id: RecordId, claims: readonly SourceClaim[]) => Effect.Effect<void, SourceNotFound | StorageFault>
    /** The thing is gone: no source claims it in this scope any more. */
    readonly release: (kinds: readonly ClaimKind[], name: string, scope: LibraryScope) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Sources") {}
