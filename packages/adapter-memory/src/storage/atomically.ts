import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

type FailureOf<Y> = Y extends Result.Result<unknown, infer E> ? E : never

/** One change of the store: runs in one go, so that no other fiber sees or changes anything in between. */
export const atomically = <Y extends Result.Result<unknown, unknown>, A>(
  body: (now: Date) => Generator<Y, A, never>,
): Effect.Effect<A, FailureOf<Y>> =>
  Effect.flatMap(Clock.currentTimeMillis, (millis) =>
    // Result.gen infers `unknown` where a body yields nothing; what is yielded is what can fail
    Effect.fromResult(Result.gen(() => body(new Date(millis))) as Result.Result<A, FailureOf<Y>>),
  )
