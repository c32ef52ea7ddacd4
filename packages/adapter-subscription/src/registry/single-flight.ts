import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Whoever asks while the work is going on waits for that same work. It goes on when those who wait leave, and ends with the scope.
 */
export const singleFlight = <A, E>(work: Effect.Effect<A, E>, scope: Scope.Scope): Effect.Effect<A, E> => {
  let going: Deferred.Deferred<A, E> | undefined
  return Effect.suspend(() => {
    if (going !== undefined) return Deferred.await(going)
    const mine = Deferred.makeUnsafe<A, E>()
    going = mine
    const landed = Effect.onExit(work, (exit) => {
      going = undefined
      return Deferred.done(mine, exit)
    })
    // nothing may come between: a flight that never starts would keep all who wait
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(Effect.forkIn(Effect.interruptible(landed), scope), restore(Deferred.await(mine))),
    )
  })
}
