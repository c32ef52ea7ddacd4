import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Deferred from "effect/Deferred"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSlots } from "../src/run/slots.ts"

const use = (resource: string, slots: number) => ({ resource, slots })

describe("slots", () => {
  it("never let more in than there is room for, and let everybody in at last", async () => {
    const work = fc.record({
      resources: fc.subarray(["a", "b", "c"]),
      urgency: fc.integer({ min: 0, max: 9 }),
      yields: fc.nat(4),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(work, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), async (works, room) => {
        const slots = makeSlots()
        const inside = new Map<string, number>()
        let done = 0
        const one = ({ resources, urgency, yields }: (typeof works)[number]) =>
          slots.hold(
            resources.map((resource) => use(resource, room)),
            urgency,
          )(
            Effect.gen(function* () {
              for (const resource of resources) {
                inside.set(resource, (inside.get(resource) ?? 0) + 1)
                expect(inside.get(resource)).toBeLessThanOrEqual(room)
              }
              for (let i = 0; i < yields; i++) yield* Effect.yieldNow
              for (const resource of resources) inside.set(resource, (inside.get(resource) ?? 0) - 1)
              done += 1
            }),
          )
        await Effect.runPromise(Effect.forEach(works, one, { concurrency: "unbounded", discard: true }))
        expect(done).toBe(works.length)
      }),
      { numRuns: 50 },
    )
  })

  it("let the most urgent in first, whoever came first", async () => {
    const order: number[] = []
    await Effect.runPromise(
      Effect.gen(function* () {
        const slots = makeSlots()
        const gate = yield* Deferred.make<void>()
        yield* Effect.forkChild(slots.hold([use("r", 1)], 0)(Deferred.await(gate)))
        yield* Effect.yieldNow
        const fibers = yield* Effect.forEach([1, 3, 2], (urgency) =>
          Effect.forkChild(slots.hold([use("r", 1)], urgency)(Effect.sync(() => order.push(urgency)))),
        )
        yield* Effect.yieldNow
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.joinAll(fibers)
      }),
    )
    expect(order).toEqual([3, 2, 1])
  })

  it("are given back when the work is interrupted, while it waits and while it runs", async () => {
    const last = await Effect.runPromise(
      Effect.gen(function* () {
        const slots = makeSlots()
        const hold = slots.hold([use("r", 1)], 0)
        const running = yield* Effect.forkChild(hold(Effect.never))
        yield* Effect.yieldNow
        const waiting = yield* Effect.forkChild(hold(Effect.never))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(waiting)
        yield* Fiber.interrupt(running)
        return yield* hold(Effect.succeed("in"))
      }),
    )
    expect(last).toBe("in")
  })
})
