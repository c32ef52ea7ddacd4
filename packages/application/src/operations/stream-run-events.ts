import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { streamsOfUsers } from "../feed/streams-of-users.ts"
import { longRead, Requester } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { findRun, runAccess } from "../run/find-run.ts"
import { RunEngine } from "@rangewright/run-engine"
import { RunEventObject, runEventObject } from "../wire/run-event.ts"
import { runStatuses } from "../wire/statuses.ts"

/** Events are numbered from 1 without gaps; a foreign ID starts at the beginning, so that nothing is missed. */
const seqOf = (lastEventId: string | undefined): number =>
  lastEventId !== undefined && /^\d{1,15}$/u.test(lastEventId) ? Number(lastEventId) : 0

/** A script may follow the deploys of a whole class. */
const limited = streamsOfUsers(128, "Close streams that you no longer read; GET /events reports all runs in one stream.")

export const streamRunEvents = operation({
  id: "streamRunEvents",
  route: "GET /runs/{runID}/events",
  group: "Range",
  origin: "ours",
  does: "follow a run",
  summary: "The run's events as they happen, from the first or after Last-Event-ID; ends with the run",
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
  handle: ({ path, caller, user, meta }) =>
    Effect.gen(function* () {
      const run = yield* findRun(path.runID, user)
      const engine = yield* RunEngine
      const events = engine.events(run.id, seqOf(meta.lastEventId)).pipe(
        Stream.mapArrayEffect((entries) => longRead(Effect.sync(() => Arr.map(entries, (entry) => runEventObject(entry))))),
        Stream.filter((shown) => shown !== undefined),
        Stream.map((data) => ({ id: String(data.seq), event: data.type, data })),
        Stream.provideService(Requester, yield* Requester),
      )
      return yield* limited(caller.id, events)
    }),
})
