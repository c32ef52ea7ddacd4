import {
  installation,
  type ResourceUse,
  type RunHead,
  type RunId,
  shareSlots,
  type SlotLedger,
  type UserId,
} from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Deferred from "effect/Deferred"
import type * as Scope from "effect/Scope"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as fc from "fast-check"
import { SharedSlots } from "@rangewright/ports"
import { describe, expect, it } from "vitest"
import { makeSlots, type RunSlots, type Slots } from "../src/schedule/slots.ts"

const use = (resource: string, slots: number) => ({ resource, slots })
const step = (...uses: readonly ResourceUse[]) => ({ uses, estimate: 10 })
const run = (id: string, by = "ADA"): RunHead => ({
  id: id as RunId,
  kind: "work",
  subject: installation,
  by: by as UserId,
  options: null,
  startedAt: new Date(0),
})
const withSlots = <A, E>(body: (slots: Slots) => Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(makeSlots(30), body)))

/** Returns when everything that can continue has continued. */
const settled = Effect.sleep(0)

describe("slots", () => {
  it("never let more in than there is room for, and let everybody in eventually", async () => {
    const work = fc.record({
      resources: fc.subarray(["a", "b", "c"]),
      run: fc.constantFrom("one", "two", "three"),
      urgency: fc.integer({ min: 0, max: 9 }),
      yields: fc.nat(4),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(work, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), async (works, room) => {
        const inside = new Map<string, number>()
        let done = 0
        const all = (slots: Slots) =>
          Effect.gen(function* () {
            const runs = new Map<string, RunSlots>()
            for (const id of ["one", "two", "three"]) runs.set(id, yield* slots.of(run(id), 1))
            const one = ({ resources, run: id, urgency, yields }: (typeof works)[number]) =>
              runs.get(id)!.withSlots(step(...resources.map((resource) => use(resource, room))), urgency)(
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
            yield* Effect.forEach(works, one, { concurrency: "unbounded", discard: true })
          })
        await withSlots(all)
        expect(done).toBe(works.length)
      }),
      { numRuns: 50 },
    )
  })

  it("repeat a round that crashed", async () => {
    let turns = 0
    const breaking = Layer.succeed(SharedSlots, {
      share: (asked) =>
        Effect.suspend(() => {
          turns += 1
          if (turns === 1) throw new Error("a damaged ledger")
          return Effect.succeed(
            asked.map(({ demands }) => ({
              granted: demands.map(({ waiting }) => waiting.length),
              counted: demands.map(() => true),
              again: false,
            })),
          )
        }),
    })
    const held = Effect.flatMap(makeSlots(30), (slots) =>
      Effect.flatMap(slots.of(run("one"), 1), ({ withSlots }) => withSlots(step(use("r", 1)), 0)(Effect.succeed("in"))),
    )
    const silent = Logger.layer([])
    expect(await Effect.runPromise(Effect.scoped(held).pipe(Effect.provide([breaking, silent])))).toBe("in")
    expect(turns).toBeGreaterThan(1)
  })

  it("are given back repeatedly until the store counts it, even after the run is over", async () => {
    const ledgers = new Map<string, SlotLedger>()
    let inForce = true
    let ignored = 0
    const lapsing = Layer.succeed(SharedSlots, {
      share: (asked) =>
        Effect.sync(() => {
          const answers = shareSlots(ledgers, asked, (id) => ({ generation: 1, inForce: inForce || id === "two" }))
          ignored += answers.filter(({ counted }) => counted.includes(false)).length
          // the lease is renewed a moment later
          inForce ||= ignored > 0
          return answers
        }),
    })
    const program = Effect.gen(function* () {
      const slots = yield* makeSlots(30)
      const one = yield* Effect.scoped(
        Effect.flatMap(slots.of(run("one"), 1), ({ withSlots }) =>
          withSlots(step(use("r", 1)), 0)(Effect.sync(() => void (inForce = false))),
        ),
      ).pipe(Effect.forkChild)
      yield* Fiber.join(one)
      const { withSlots } = yield* slots.of(run("two"), 1)
      return yield* withSlots(step(use("r", 1)), 0)(Effect.succeed("in"))
    })
    expect(await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(lapsing)))).toBe("in")
    expect(ignored).toBeGreaterThan(0)
  })

  it("let the most urgent step of a run in first, whoever came first", async () => {
    const order: number[] = []
    await withSlots((slots) =>
      Effect.gen(function* () {
        const { withSlots } = yield* slots.of(run("one"), 1)
        const gate = yield* Deferred.make<void>()
        yield* Effect.forkChild(withSlots(step(use("r", 1)), 0)(Deferred.await(gate)))
        yield* settled
        const fibers = yield* Effect.forEach([1, 3, 2], (urgency) =>
          Effect.forkChild(withSlots(step(use("r", 1)), urgency)(Effect.sync(() => order.push(urgency)))),
        )
        yield* settled
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.joinAll(fibers)
      }),
    )
    expect(order).toEqual([3, 2, 1])
  })

  it("let the runs of an owner in one after another, and an owner with one run as often as one with many", async () => {
    const order: string[] = []
    await withSlots((slots) =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        yield* Effect.forkChild((yield* slots.of(run("first"), 1)).occupy(step(use("r", 1)))(Deferred.await(gate)))
        yield* settled
        const fibers = yield* Effect.forEach(["a1", "a2", "b1"], (id) =>
          Effect.flatMap(slots.of(run(id, id[0]), 1), ({ withSlots }) =>
            Effect.forEach([1, 2], () => Effect.forkChild(withSlots(step(use("r", 1)), 0)(Effect.sync(() => order.push(id))))),
          ),
        )
        yield* settled
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.joinAll(fibers.flat())
      }),
    )
    expect(order.slice(0, 4).toSorted()).toEqual(["a1", "a2", "b1", "b1"])
  })

  it("count work that was going on already, and let nobody in until there is room again", async () => {
    const order: string[] = []
    await withSlots((slots) =>
      Effect.gen(function* () {
        const { withSlots, occupy } = yield* slots.of(run("one"), 2)
        const gates = yield* Effect.forEach([1, 2], () => Deferred.make<void>())
        const before = yield* Effect.forEach(gates, (gate) =>
          Effect.forkChild(
            occupy(step(use("r", 1)))(
              Effect.andThen(
                Deferred.await(gate),
                Effect.sync(() => order.push("over")),
              ),
            ),
          ),
        )
        const later = yield* Effect.forkChild(withSlots(step(use("r", 1)), 0)(Effect.sync(() => order.push("later"))))
        for (const gate of gates) {
          yield* settled
          yield* Deferred.succeed(gate, undefined)
        }
        yield* Fiber.joinAll([...before, later])
      }),
    )
    expect(order).toEqual(["over", "over", "later"])
  })

  it("of a common resource are not held by a step that waits for a rare one", async () => {
    const inside: string[] = []
    await withSlots((slots) =>
      Effect.gen(function* () {
        const { withSlots } = yield* slots.of(run("one"), 1)
        const narrow = step(use("all", 2), use("own", 1))
        for (const name of ["first", "second", "third"])
          yield* Effect.forkChild(
            withSlots(
              narrow,
              0,
            )(
              Effect.andThen(
                Effect.sync(() => inside.push(name)),
                Effect.never,
              ),
            ),
          )
        while (inside.length === 0) yield* settled
        yield* withSlots(step(use("all", 2)), 0)(Effect.sync(() => inside.push("other")))
      }),
    )
    expect(inside).toEqual(["first", "other"])
  })

  it("are given back when the work is interrupted, while it waits and while it runs", async () => {
    const last = await withSlots((slots) =>
      Effect.gen(function* () {
        const withSlots = (yield* slots.of(run("one"), 1)).withSlots(step(use("r", 1)), 0)
        const running = yield* Effect.forkChild(withSlots(Effect.never))
        yield* settled
        const waiting = yield* Effect.forkChild(withSlots(Effect.never))
        yield* settled
        yield* Fiber.interrupt(waiting)
        yield* Fiber.interrupt(running)
        return yield* withSlots(Effect.succeed("in"))
      }),
    )
    expect(last).toBe("in")
  })
})
