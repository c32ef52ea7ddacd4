import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Callers that arrive while the work is running share it. It continues when callers leave, and ends with the scope. */
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
    // uninterruptible: if the work never started, all callers would wait forever
    return Effect.uninterruptibleMask((restore) =>
      Effect.andThen(Effect.forkIn(Effect.interruptible(landed), scope), restore(Deferred.await(mine))),
    )
  })
}
