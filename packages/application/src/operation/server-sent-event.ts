import type { Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** An event of a server-sent event stream. A reconnecting client sends the last ID as `Last-Event-ID`. */
export interface ServerSentEvent {
  readonly id: string
  readonly event: string
  /** Must not change: the same object may be rendered once for several readers. */
  readonly data: object
}

/** Who reads server-sent events. What is sent stays in memory until they have read it, so send only while there is room. */
export interface EventReader {
  readonly send: (events: readonly ServerSentEvent[]) => void
  /** Whether the reader has read nearly everything that was sent. */
  readonly hasRoom: () => boolean
  /** Waits until it has, or has gone. */
  readonly room: Effect.Effect<void>
}

/** Sends events to a reader until there are no more; interrupted when the reader leaves. */
export type ServerSentEvents = (reader: EventReader) => Effect.Effect<void, Fault>

/** Sends a stream, as fast as its reader reads. */
export const eventsOfStream =
  (stream: Stream.Stream<ServerSentEvent, Fault>): ServerSentEvents =>
  (reader) =>
    // events that arrive together are sent together: a long stream starts with thousands of them
    Stream.runForEachArray(stream, (events) =>
      Effect.andThen(
        Effect.sync(() => reader.send(events)),
        reader.room,
      ),
    )
