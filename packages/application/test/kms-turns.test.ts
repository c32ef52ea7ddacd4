import type { RangeId } from "@rangewright/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect, it } from "vitest"
import { askedAtOnce, askingRange, inTurn } from "../src/kms/ask-in-turn.ts"

it("few machines are asked at once in the whole process, and one request never takes all turns", async () => {
  const [seen, end] = await Effect.runPromise(
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const [four, none] = [yield* Deferred.make<void>(), 0]
      let [now, most] = [none, none]
      const ask = Effect.gen(function* () {
        now += 1
        most = Math.max(most, now)
        if (now === 4) yield* Deferred.succeed(four, undefined)
        yield* Deferred.await(gate)
        now -= 1
      })
      const all = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 12 }), () => inTurn(ask), { concurrency: "unbounded" }),
      )
      yield* Deferred.await(four)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(all)
      return [most, now] as const
    }),
  )
  expect([seen, end]).toEqual([4, 0])
  expect(askedAtOnce).toBeLessThan(4)
})

it("one request at a time asks the machines of a range, and others are refused until it ends or is interrupted", async () => {
  const range = (id: string) => askingRange(id as RangeId, "activate Windows")
  await Effect.runPromise(
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(range("LAB")(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)))
      yield* Deferred.await(begun)
      const fault = yield* Effect.flip(range("LAB")(Effect.void))
      expect([fault.kind, fault.message]).toEqual([
        "conflict",
        "Cannot activate Windows: another request is asking machines of range LAB for their licences",
      ])
      expect(yield* range("OTHER")(Effect.succeed("asked"))).toBe("asked")
      yield* Fiber.interrupt(first)
      expect(yield* range("LAB")(Effect.succeed("asked"))).toBe("asked")
    }),
  )
})
