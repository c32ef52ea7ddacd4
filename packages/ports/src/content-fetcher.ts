import type { SnapshotId, TreeEntry } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ContentLocation } from "./content-location.ts"
import type { ContentFault } from "./faults.ts"

export type { SnapshotId } from "@rangewright/domain"

/** An immutable state of a source. */
export interface Snapshot {
  readonly id: SnapshotId
  /** The folder on the service's host that holds the files, read-only; undefined if the adapter stores none. */
  readonly root: string | undefined
  /** Files and links, sorted by path. Links point inside the tree. */
  readonly files: readonly TreeEntry[]
}

export interface ContentProgress {
  readonly phase: "connecting" | "receiving" | "writing"
  /** What the numbers count: the location's name, or a submodule's path. */
  readonly item: string
  /** Objects or files; `total` is absent while unknown. */
  readonly done: number
  readonly total?: number
}

export interface FetchRequest {
  readonly location: ContentLocation
  /** Who needs the snapshot, for example `source:<record id>`; the snapshot is pinned for this holder when it is returned. */
  readonly holder: string
  /** Whom to count this fetch against, such as a user, when unpacking slots are shared; the holder if absent. */
  readonly whose?: string
  /** Called occasionally during the fetch, and always with the final numbers of a phase. */
  readonly progress?: (progress: ContentProgress) => Effect.Effect<void>
}

export type GitAvailability =
  | { readonly available: true; readonly version: string }
  | { readonly available: false; readonly because: string }

/**
 * Turns a location into an immutable snapshot. A fetch is all or nothing: it ends with a complete snapshot or a fault, even after a crash
 * or a lost connection, and can be repeated. Unchanged content gives the same snapshot.
 */
export class ContentFetcher extends Context.Service<
  ContentFetcher,
  {
    /** Git locations need git on the host; the others do not. */
    readonly gitAvailable: Effect.Effect<GitAvailability>
    /** Interrupting a fetch stops everything it started. */
    readonly fetch: (request: FetchRequest) => Effect.Effect<Snapshot, ContentFault>
    /** A snapshot that was fetched before and has not been pruned. */
    readonly open: (id: SnapshotId) => Effect.Effect<Snapshot, ContentFault>
    /** The bytes of a file; links are followed inside the tree. `too-large` beyond `maxBytes` (1 MiB if absent). */
    readonly read: (id: SnapshotId, path: string, maxBytes?: number) => Effect.Effect<Uint8Array, ContentFault>
    /** Disk space it uses, in bytes (`treeBytes`). Cheap: no directory is walked. */
    readonly size: (id: SnapshotId) => Effect.Effect<number, ContentFault>
    /** Another holder needs this snapshot (an installation, a blueprint). Pinning twice has no further effect. */
    readonly pin: (id: SnapshotId, holder: string) => Effect.Effect<void, ContentFault>
    /** The holder no longer needs it. Releasing what was not pinned is not a fault. */
    readonly release: (id: SnapshotId, holder: string) => Effect.Effect<void, ContentFault>
    /** The snapshots pinned for a holder. */
    readonly pinned: (holder: string) => Effect.Effect<readonly SnapshotId[], ContentFault>
    /** Removes all unpinned snapshots, and repository caches that were not used for a long time. Returns the removed snapshots. */
    readonly prune: Effect.Effect<readonly SnapshotId[], ContentFault>
  }
>()("rangewright/ContentFetcher") {}
