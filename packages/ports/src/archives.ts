import * as Context from "effect/Context"
import type * as Stream from "effect/Stream"
import type { SnapshotId } from "./content-fetcher.ts"
import type { ContentFault } from "./faults.ts"

/** A file to pack: its bytes, or a file of a snapshot. */
export interface ArchiveFile {
  readonly path: string
  readonly executable?: boolean
  readonly content: Uint8Array | { readonly snapshot: SnapshotId; readonly path: string }
}

/** Writes archives. */
export class Archives extends Context.Service<
  Archives,
  {
    /**
     * A gzipped tar of the files, sorted by path. Reproducible: the same files give the same bytes, whenever and wherever they are packed.
     * A path that a fetch would reject is refused before the first byte.
     */
    readonly pack: (files: readonly ArchiveFile[]) => Stream.Stream<Uint8Array, ContentFault>
  }
>()("rangewright/Archives") {}
