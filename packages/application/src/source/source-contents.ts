import type { RecordId, SnapshotId, Source, SourceBroken } from "@rangewright/domain"
import { type BuilderFiles, ContentFetcher, type ContentFault, type Snapshot } from "@rangewright/ports"
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { keyedLock } from "./keyed-lock.ts"
import { readSnapshot, type SnapshotContent } from "./read-content.ts"

/** Most content kept in memory, in characters: many times the sources that people use at once. */
const mostWeight = 128 * 1024 * 1024
/** Most snapshots whose content is kept, however small. */
const mostKept = 1_000

/** The content of sources, read once per snapshot, whoever asks and however many sources have it. */
export class SourceContents extends Context.Service<
  SourceContents,
  {
    /** The content of a snapshot that was just fetched, or is stored. */
    readonly ofSnapshot: (snapshot: Snapshot) => Effect.Effect<SnapshotContent, ContentFault | SourceBroken>
    /** The same by its ID. */
    readonly ofId: (id: SnapshotId) => Effect.Effect<SnapshotContent, ContentFault | SourceBroken>
    /** Runs the work while no other work on this source runs in this process. Must not be nested for the same source. */
    readonly alone: (source: Pick<Source, "recordId">) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("rangewright/SourceContents") {}

/** Keeps content in memory, and the lock of each source. */
export const sourceContentsLayer: Layer.Layer<SourceContents, never, BuilderFiles | ContentFetcher> = Layer.effect(
  SourceContents,
  Effect.gen(function* () {
    const fetcher = yield* ContentFetcher
    const services = yield* Effect.context<BuilderFiles | ContentFetcher>()
    const lock = keyedLock()
    /** The weight of each kept content, least recently used first. */
    const weights = new Map<SnapshotId, number>()
    const cache = yield* Cache.makeWith(
      (id: SnapshotId) => Effect.flatMap(fetcher.open(id), readSnapshot).pipe(Effect.provideContext(services)),
      {
        capacity: mostKept,
        // a snapshot never changes; a failed read is retried
        timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero),
      },
    )
    const used = Effect.fnUntraced(function* (id: SnapshotId, weight: number) {
      weights.delete(id)
      weights.set(id, weight)
      let total = [...weights.values()].reduce((sum, one) => sum + one, 0)
      for (const [other, freed] of weights) {
        if (total <= mostWeight || other === id) break
        weights.delete(other)
        total -= freed
        yield* Cache.invalidate(cache, other)
      }
    })
    const ofId = (id: SnapshotId) => Effect.tap(Cache.get(cache, id), ({ weight }) => used(id, weight))
    return {
      ofSnapshot: ({ id }) => ofId(id),
      ofId,
      alone: ({ recordId }: { readonly recordId: RecordId }) => lock(recordId),
    }
  }),
)
