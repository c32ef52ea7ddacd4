import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect, test } from "vitest"
import { makeTurns } from "../src/turns.ts"

test("concurrent work is limited in total and per owner, and owners that wait or leave block nobody", async () => {
  const turns = makeTurns(3, 2)
  const active = new Map<string, number>()
  const most = new Map<string, number>()
  const count = (name: string, by: number) => {
    active.set(name, (active.get(name) ?? 0) + by)
    most.set(name, Math.max(most.get(name) ?? 0, active.get(name) ?? 0))
  }
  const enter = (whose: string, by: number) => Effect.sync(() => [whose, "all"].forEach((name) => count(name, by)))
  await Effect.runPromise(
    Effect.gen(function* () {
      const [go, otherBegan] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const work = (whose: string, begun: Effect.Effect<unknown> = Effect.void) =>
        turns(
          whose,
          Effect.acquireUseRelease(
            enter(whose, 1),
            () => Effect.andThen(begun, Deferred.await(go)),
            () => enter(whose, -1),
          ),
        )
      const own = yield* Effect.forkChild(Effect.forEach([1, 2, 3, 4, 5], () => work("own"), { concurrency: 5 }))
      const leaving = yield* Effect.forkChild(work("own"))
      const other = yield* Effect.forkChild(work("other", Deferred.succeed(otherBegan, undefined)))
      // while all turns of the first are taken, and some of it waits
      yield* Deferred.await(otherBegan)
      yield* Fiber.interrupt(leaving)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(own)
      yield* Fiber.join(other)
    }),
  )
  expect([most.get("own"), most.get("other"), most.get("all")]).toEqual([2, 1, 3])
  expect([...active.values()]).toEqual([0, 0, 0])
})
