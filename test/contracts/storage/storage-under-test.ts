import type { StorageFault, StoragePorts } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { it } from "vitest"
import { skewed } from "../../runs/support/skewed-clock.ts"

/** An adapter of the storage ports, as the contracts see it. */
export interface StorageUnderTest {
  readonly name: string
  /** An empty store. The layer may be built several times: each time is a restart of the process over the same data. */
  readonly empty: () => Promise<{
    readonly layer: Layer.Layer<StoragePorts, StorageFault>
    readonly remove: () => Promise<void>
  }>
  /** Advances the clock by which leases are measured; absent if that is the test's own clock. */
  readonly pass?: (seconds: number) => Promise<void>
}

/** The start of the tests' clock, which is not zero: there "never" and "then" would look alike. */
export const startedAt = new Date("2026-03-01T08:00:00.000Z")
export const later = (seconds: number): Date => new Date(startedAt.getTime() + seconds * 1000)

/** Advances the test's clock and that of the storage by this many seconds. */
export const pass = ({ pass: onServer }: StorageUnderTest, seconds: number): Effect.Effect<void> =>
  Effect.andThen(
    TestClock.adjust(seconds * 1000),
    Effect.promise(async () => onServer?.(seconds)),
  )

/** Runs an effect in a process whose time of day is this many seconds ahead. */
export const aheadBy =
  (seconds: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Clock.clockWith((clock) =>
      Effect.provideService(
        effect,
        Clock.Clock,
        skewed(clock, () => seconds),
      ),
    )

/** Each test has an empty store and a clock that stands still until the test moves it. */
export const promises =
  (storage: StorageUnderTest) =>
  <E>(title: string, body: Effect.Effect<void, E, StoragePorts>): void =>
    it(title, async () => {
      const { layer, remove } = await storage.empty()
      try {
        const program = Effect.andThen(TestClock.setTime(startedAt.getTime()), body)
        await Effect.runPromise(Effect.scoped(Effect.provide(program, Layer.merge(layer, TestClock.layer()))))
      } finally {
        await remove()
      }
    })
