import { type ScopedKey, whyOver } from "@rangewright/domain"
import { ScopedKeys } from "@rangewright/ports"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { cameWith, type Reader, readerNow } from "../feed/access.ts"
import { streamsOfUsers } from "../feed/streams-of-users.ts"
import { longRead, Requester } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { eventsOfStream } from "../operation/server-sent-event.ts"
import { findRun, runAccess } from "../run/find-run.ts"
import { RunEngine } from "@rangewright/run-engine"
import { RunEventObject, runEventObject } from "../wire/run-event.ts"
import { runStatuses } from "../wire/statuses.ts"

/** Events are numbered from 1 without gaps; a foreign ID starts at the beginning, so that nothing is missed. */
const seqOf = (lastEventId: string | undefined): number =>
  lastEventId !== undefined && /^\d{1,15}$/u.test(lastEventId) ? Number(lastEventId) : 0

/** A script may follow the deploys of a whole class. */
const { limited } = streamsOfUsers(128, "Close streams that you no longer read; GET /events reports all runs in one stream.")

/** Milliseconds between two checks of the reader's rights. */
const rightsEvery = 2_000

type Needs = Effect.Services<Effect.Success<ReturnType<typeof untilRefused>>>

interface RunReader extends Reader {
  readonly key: ScopedKey | undefined
}

/** Completes when the reader may no longer follow the run. While the store does not answer, there are no events either. */
const untilRefused = Effect.fnUntraced(function* (runId: string, reader: RunReader) {
  const keys = yield* ScopedKeys
  const credentials = yield* cameWith(reader)
  const { key } = reader
  const isRefused = Effect.gen(function* () {
    const user = yield* readerNow(reader, credentials)
    if (user === undefined) return true
    const kept = key === undefined ? undefined : yield* keys.find(key.id)
    if (key !== undefined && (kept?.hash !== key.hash || whyOver(kept, yield* Clock.currentTimeMillis) !== undefined)) return true
    // a run that removed its range is not found any more, and its stream has an end of its own
    return yield* Effect.as(findRun(runId, user), false).pipe(Effect.catchTag("Forbidden", () => Effect.succeed(true)))
  })
  const look = Effect.orElseSucceed(isRefused, () => false)
  return Effect.repeat(Effect.andThen(Effect.sleep(rightsEvery), look), { until: (refused) => refused })
})

export const streamRunEvents = operation({
  id: "streamRunEvents",
  route: "GET /runs/{runID}/events",
  group: "Range",
  origin: "ours",
  does: "follow a run",
  summary: "The run's events as they happen, from the first or after Last-Event-ID; ends with the run, or when access to it ends",
  access: "range-access",
  accessNote: runAccess,
  target: "none",
  path: { runID: Schema.String },
  output: { type: "events", schema: RunEventObject },
  statuses: {
    200: "server-sent events, named by their type",
    ...runStatuses,
    403: `${runStatuses[403]}, or has the maximum number of streams open`,
  },
  handle: ({ path, caller, session, key, user, meta }) =>
    Effect.gen(function* () {
      const run = yield* findRun(path.runID, user)
      const engine = yield* RunEngine
      const refused = yield* untilRefused(run.id, { caller, user, session, key })
      const events = engine.events(run.id, seqOf(meta.lastEventId)).pipe(
        Stream.mapArrayEffect((entries) => longRead(Effect.sync(() => Arr.map(entries, (entry) => runEventObject(entry))))),
        Stream.filter((shown) => shown !== undefined),
        Stream.map((data) => ({ id: String(data.seq), event: data.type, data })),
        Stream.provideService(Requester, yield* Requester),
        Stream.interruptWhen(Effect.provideContext(refused, yield* Effect.context<Needs>())),
      )
      return yield* limited(caller.id, eventsOfStream(events))
    }),
})
