import type { SnapshotId, TreeEntry } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ContentLocation } from "./content-location.ts"
import type { ContentFault } from "./faults.ts"

export type { SnapshotId } from "@rangewright/domain"

/** A state of a source that never changes. */
export interface Snapshot {
  readonly id: SnapshotId
  /** The folder on the service's host that holds the files, to be read only; undefined where the adapter keeps none. */
  readonly root: string | undefined
  /** Files and links, sorted by path. Links lead to places inside the tree. */
  readonly files: readonly TreeEntry[]
}

export interface ContentProgress {
  readonly phase: "connecting" | "receiving" | "writing"
  /** What the numbers are of: the location's name, or a submodule's path. */
  readonly item: string
  /** Objects or files; `total` is absent where it is not known yet. */
  readonly done: number
  readonly total?: number
}

export interface FetchRequest {
  readonly location: ContentLocation
  /** Who needs the snapshot, for example `source:<record id>`: it is pinned by this holder when it is returned. */
  readonly holder: string
  /** Tells apart those who share what can be unpacked at a time, such as users; the holder where absent. */
  readonly whose?: string
  /** Called now and then while it goes on, and always with the last numbers of a phase. */
  readonly progress?: (progress: ContentProgress) => Effect.Effect<void>
}

export type GitAvailability =
  | { readonly available: true; readonly version: string }
  | { readonly available: false; readonly because: string }

/**
 * Turns a location into an immutable snapshot. A fetch is all or nothing: it ends with a whole snapshot or a fault, whatever is cut off or
 * killed meanwhile, and may be repeated. A location whose content did not change gives the same snapshot.
 */
export class ContentFetcher extends Context.Service<
  ContentFetcher,
  {
    /** Git locations need the host's git; the others work without it. */
    readonly gitAvailable: Effect.Effect<GitAvailability>
    /** A fetch that is interrupted stops everything it started. */
    readonly fetch: (request: FetchRequest) => Effect.Effect<Snapshot, ContentFault>
    /** A snapshot that was fetched before and not pruned. */
    readonly open: (id: SnapshotId) => Effect.Effect<Snapshot, ContentFault>
    /** The bytes of a file; links are followed inside the tree. `too-large` beyond `maxBytes` (1 MiB where absent). */
    readonly read: (id: SnapshotId, path: string, maxBytes?: number) => Effect.Effect<Uint8Array, ContentFault>
    /** Bytes that it takes of the host's disk (`treeBytes`). Cheap: nothing is walked. */
    readonly size: (id: SnapshotId) => Effect.Effect<number, ContentFault>
    /** Another holder needs this snapshot (an installation, a blueprint). Holding twice is holding once. */
    readonly pin: (id: SnapshotId, holder: string) => Effect.Effect<void, ContentFault>
    /** The holder no longer needs it; one that never did is no fault. */
    readonly release: (id: SnapshotId, holder: string) => Effect.Effect<void, ContentFault>
    /** Which snapshots a holder pins. */
    readonly pinned: (holder: string) => Effect.Effect<readonly SnapshotId[], ContentFault>
    /** Removes every snapshot that nobody pins, and caches of repositories that were not fetched for long. Returns the removed ones. */
    readonly prune: Effect.Effect<readonly SnapshotId[], ContentFault>
  }
>()("rangewright/ContentFetcher") {}
