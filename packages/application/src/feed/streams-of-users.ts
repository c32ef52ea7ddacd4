import { Forbidden, type UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** Limits the streams that a user may have open at a time in one process: each takes memory as long as its reader stays. */
export const streamsOfUsers = (most: number, hint: string) => {
  const open = new Map<UserId, number>()
  const refuseTooMany = (id: UserId) =>
    Effect.suspend(() =>
      (open.get(id) ?? 0) < most
        ? Effect.void
        : Effect.fail(new Forbidden({ reason: `${id} already follows ${most} event streams, the maximum for one user`, hint })),
    )
  const enter = (id: UserId) => Effect.sync(() => open.set(id, (open.get(id) ?? 0) + 1))
  const leave = (id: UserId) =>
    Effect.sync(() => {
      const left = (open.get(id) ?? 1) - 1
      if (left === 0) open.delete(id)
      else open.set(id, left)
    })

  /** The stream, unless the user has too many. It counts from its beginning to its end. */
  return <A, E, R>(id: UserId, stream: Stream.Stream<A, E, R>): Effect.Effect<Stream.Stream<A, E | Forbidden, R>, Forbidden> => {
    const counted = Effect.acquireRelease(enter(id), () => leave(id))
    // counted when they begin, so that concurrent requests cannot exceed the limit
    return Effect.as(refuseTooMany(id), Stream.unwrap(Effect.as(Effect.andThen(refuseTooMany(id), counted), stream)))
  }
}
