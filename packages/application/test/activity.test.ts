import { Activity, activityLayer } from "@rangewright/application"
import type { RangeId, UserId } from "@rangewright/domain"
import { Ranges, StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"

const user = "AB" as UserId
const range = "LAB" as RangeId
const at = (second: number) => new Date(second * 1000)
const use = (second: number) => ({ at: at(second), by: user, request: "GET /range" })

/** Only what stamps need: a store that records every write and fails while it is broken. */
const recorder = () => {
  const writes: (readonly [string, Date])[][] = []
  const store: { broken: boolean | "by a bug" } = { broken: false }
  const touch = (stamps: ReadonlyMap<string, Date>) =>
    store.broken === "by a bug"
      ? Effect.die(new Error("a bug"))
      : store.broken
        ? Effect.fail(new StorageFault({ doing: "stamp", because: "the disk is full" }))
        : Effect.sync(() => void writes.push([...stamps]))
  const ports = Layer.mergeAll(
    Layer.succeed(Users, { touch } as unknown as Users["Service"]),
    Layer.succeed(Ranges, { touch } as unknown as Ranges["Service"]),
  )
  return { writes, store, layer: Layer.provide(activityLayer, ports) }
}

const run = <A>(layer: Layer.Layer<Activity>, body: (activity: Activity["Service"]) => Effect.Effect<A>) =>
  Effect.runPromise(Effect.flatMap(Activity, body).pipe(Effect.provide(layer), Effect.provide(TestClock.layer())))

describe("stamps of activity", () => {
  it("gather, are written together every ten seconds, the newest of each, and not again", async () => {
    const { writes, layer } = recorder()
    await run(layer, (activity) =>
      Effect.gen(function* () {
        activity.user(user, at(1))
        activity.user(user, at(2))
        activity.range(range, use(3))
        yield* TestClock.adjust("9 seconds")
        expect(writes).toEqual([])
        yield* TestClock.adjust("1 second")
        expect(writes).toEqual([[[user, at(2)]], [[range, at(3)]]])
        yield* TestClock.adjust("1 minute")
        expect(writes).toHaveLength(2)
      }),
    )
  })

  it("are written at the end of the service too", async () => {
    const { writes, layer } = recorder()
    await run(layer, (activity) => Effect.sync(() => activity.user(user, at(1))))
    expect(writes).toEqual([[[user, at(1)]]])
  })

  it.each([true, "by a bug"] as const)(
    "that could not be written (%s) are kept for the next time, unless a newer one came",
    async (broken) => {
      const { writes, store, layer } = recorder()
      await run(layer, (activity) =>
        Effect.gen(function* () {
          store.broken = broken
          activity.user(user, at(1))
          activity.range(range, use(1))
          yield* TestClock.adjust("10 seconds")
          activity.range(range, use(2))
          store.broken = false
          yield* TestClock.adjust("10 seconds")
        }),
      )
      expect(writes).toEqual([[[user, at(1)]], [[range, at(2)]]])
    },
  )

  it("of ranges are known before they are written", async () => {
    const { layer } = recorder()
    await run(layer, (activity) =>
      Effect.sync(() => {
        expect(activity.lastOfRange(range)).toBeUndefined()
        activity.range(range, use(5))
        expect(activity.lastOfRange(range)).toEqual(use(5))
      }),
    )
  })
})
