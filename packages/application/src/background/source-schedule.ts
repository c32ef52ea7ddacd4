import { isFault, type Source } from "@rangewright/domain"
import { ContentFetcher, type SecretStore, Sources } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RunEngine } from "@rangewright/run-engine"
import { runFetch } from "../source/fetch-run.ts"
import type { SourceContents } from "../source/source-contents.ts"
import { latestSync, nextSync } from "../source/sync-schedule.ts"

/** Seconds between two checks for sources that are due. */
const lookEverySeconds = 30
/** Concurrent syncs: many sources that are due at the same time must not overload the host. */
const syncsAtOnce = 4
/** Seconds between two checks for times that are too late: the shortest interval of a source. */
const retimeEverySeconds = 300
/** Seconds between two removals of content that nobody needs. */
const pruneEverySeconds = 3600

type Services = ContentFetcher | RunEngine | SecretStore | SourceContents | Sources

/** Syncs one source that is due, unless another process has taken its turn. A failure goes to the source's record and the log. */
const syncDue = Effect.fnUntraced(function* (source: Source): Effect.fn.Return<void, never, Services> {
  const sources = yield* Sources
  const { schedule, nextSyncAt } = source
  if (schedule === undefined || nextSyncAt === undefined) return
  const work = Effect.gen(function* () {
    if (!(yield* sources.postpone(source.recordId, nextSyncAt, yield* nextSync(schedule)))) return
    yield* runFetch(source, { manifest: true, outcome: true }, source.owner)
  })
  yield* work.pipe(
    // a failure for one source must not affect the others
    Effect.catch((fault) => Effect.logWarning(isFault(fault) ? `source ${source.id}: ${fault.message}` : fault)),
  )
})

/** Syncs every source that is due. Its next time is set before the sync, so that a crash does not repeat the sync at once. */
export const syncDueSources = Effect.gen(function* () {
  const sources = yield* Sources
  const due = yield* sources.due(new Date(yield* Clock.currentTimeMillis))
  yield* Effect.forEach(due, syncDue, { concurrency: syncsAtOnce, discard: true })
})

/**
 * Chooses a new time for each source whose next sync is later than its interval allows: the clock was set back since the time was chosen.
 * None is synced for that. Those that are due after the clock was set forward are synced once, a few at once.
 */
export const retimeSources = Effect.gen(function* () {
  const sources = yield* Sources
  for (const { id, recordId, schedule, nextSyncAt } of yield* sources.list()) {
    if (schedule === undefined || nextSyncAt === undefined || nextSyncAt <= (yield* latestSync(schedule))) continue
    if (yield* sources.postpone(recordId, nextSyncAt, yield* nextSync(schedule)))
      yield* Effect.logInfo(`source ${id}: the clock was set back, so its next sync is ${schedule} from now`)
  }
})

/** Removes content that no source, blueprint or other holder needs. */
export const pruneContent = Effect.gen(function* () {
  const fetcher = yield* ContentFetcher
  const gone = yield* fetcher.prune
  if (gone.length > 0) yield* Effect.logInfo(`${gone.length} unused content snapshots were removed`)
})

/** Syncs due sources and prunes unused content, forever. */
export const sourceScheduleLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const every = <E, R>(seconds: number, work: Effect.Effect<void, E, R>) =>
      Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(seconds * 1000), Effect.ignoreCause(work, { log: "Warn" }))))
    yield* every(lookEverySeconds, syncDueSources)
    yield* every(retimeEverySeconds, retimeSources)
    yield* every(pruneEverySeconds, pruneContent)
  }),
)
