import { Forbidden, type UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { ServerSentEvents } from "../operation/server-sent-event.ts"

/** Limits the streams that a user may have open at a time in one process: each takes memory as long as its reader stays. */
export const streamsOfUsers = (most: number, hint: string) => {
  const ofUsers = new Map<UserId, number>()
  let open = 0
  const refuseTooMany = (id: UserId) =>
    Effect.suspend(() =>
      (ofUsers.get(id) ?? 0) < most
        ? Effect.void
        : Effect.fail(new Forbidden({ reason: `${id} already follows ${most} event streams, the maximum for one user`, hint })),
    )
  const count = (id: UserId, more: 1 | -1): void => {
    open += more
    const now = (ofUsers.get(id) ?? 0) + more
    if (now === 0) ofUsers.delete(id)
    else ofUsers.set(id, now)
  }

  return {
    /** The number of streams that are sent. */
    open: () => open,
    /** The events, unless the user has too many streams. */
    limited: (id: UserId, events: ServerSentEvents): Effect.Effect<ServerSentEvents, Forbidden> =>
      // counted when they begin, so that concurrent requests cannot exceed the limit
      Effect.as(refuseTooMany(id), (reader) =>
        Effect.acquireUseRelease(
          Effect.map(refuseTooMany(id), () => count(id, 1)),
          () => events(reader),
          () => Effect.sync(() => count(id, -1)),
        ),
      ),
  }
}
