import type { RunId } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { expect, it } from "vitest"
import { makeWorkerLease } from "../src/worker/lease.ts"

it("a lease is measured by the engine's clock, also where an adapter has one that runs faster", async () => {
  const program = Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const faster = { ...clock, monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() * 20n }
    yield* TestClock.adjust("1 hour")
    const since = Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
    const { check } = yield* makeWorkerLease("run000000000001" as RunId, 1, 30, since)
    yield* TestClock.adjust("20 seconds")
    // it would wait for a renewal
    const inForce = yield* Effect.provideService(check, Clock.Clock, faster).pipe(
      Effect.as(true),
      Effect.raceFirst(
        Effect.as(
          Effect.promise(() => new Promise(setImmediate)),
          false,
        ),
      ),
    )
    expect(inForce).toBe(true)
  })
  const journal = { renew: () => Effect.succeed(true) } as unknown as RunJournal["Service"]
  await Effect.runPromise(program.pipe(Effect.provideService(RunJournal, journal), Effect.provide(TestClock.layer())))
})
