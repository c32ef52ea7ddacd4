import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect, it } from "vitest"
import { forAllAtOnce, inStartTurn, startingInTurn } from "../src/run/start-turns.ts"

const items = Array.from({ length: 30 }, (_, n) => n)

it("a request starts only a few runs at once, also in nested work, and awaits the ends of all concurrently", () =>
  Effect.gen(function* () {
    const ended = yield* Deferred.make<void>()
    const allStarted = yield* Deferred.make<void>()
    let starting = 0
    let started = 0
    let most = 0
    const start = Effect.gen(function* () {
      most = Math.max(most, ++starting)
      for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow
      starting--
      if (++started === 2 * items.length) yield* Deferred.succeed(allStarted, undefined)
    })
    const run = () => Effect.andThen(inStartTurn(start), Deferred.await(ended))
    const request = yield* Effect.forkChild(
      startingInTurn(Effect.all([forAllAtOnce(items, run), forAllAtOnce(items, run)], { concurrency: 2 })),
    )
    yield* Deferred.await(allStarted)
    expect(most).toBe(4)
    expect(request.pollUnsafe()).toBeUndefined()
    yield* Deferred.succeed(ended, undefined)
    yield* Fiber.join(request)
  }).pipe(Effect.runPromise))
