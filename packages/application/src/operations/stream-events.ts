import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { EventFeed } from "../feed/event-feed.ts"
import { wantedTopics } from "../feed/topics.ts"
import { operation } from "../operation/operation.ts"
import { LiveData } from "../wire/live-event.ts"

export const streamEvents = operation({
  id: "streamEvents",
  route: "GET /events",
  group: "Range",
  origin: "ours",
  does: "follow events",
  summary:
    "Every change of ranges, machines, runs and notices that the user may see, as it happens; after Last-Event-ID, what happened since",
  access: "user",
  // a stream outlives the request, and would not end with the key
  wholeKeyOnly: true,
  accessNote: "each event reaches those who may read its object",
  target: "none",
  query: { topics: Schema.optionalKey(Schema.String) },
  output: { type: "events", schema: LiveData },
  statuses: {
    200: "server-sent events: range, machine, run, notice; ready and reset mark where the stream is complete from",
    400: "a topic is unknown, or there are too many",
    403: "the user has the maximum number of streams open; the key is scoped",
  },
  handle: ({ caller, user, session, query, meta }) =>
    Effect.gen(function* () {
      const feed = yield* EventFeed
      const wanted = yield* wantedTopics(query.topics)
      return yield* feed.follow({ caller, user, session, wanted, lastEventId: meta.lastEventId })
    }),
})
