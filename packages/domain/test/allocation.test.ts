import * as Result from "effect/Result"
import fc from "fast-check"
import { expect, it } from "vitest"
import {
  allocateRangeNumber,
  allocateUserNumber,
  allocateVmids,
  isRouter,
  rangeNumberSpan,
  type RangeId,
  rootUserId,
  type UserId,
  userNumberSpan,
} from "../src/index.ts"

const numbers = (from: number, to: number) => fc.uniqueArray(fc.integer({ min: from, max: to }), { maxLength: to - from + 1 })
const user = "alice" as UserId

it("gives users the lowest number that is free, and fails only when none is", () => {
  fc.assert(
    fc.property(numbers(1, userNumberSpan.to + 5), (used) => {
      const taken = new Set(used)
      const given = allocateUserNumber(user, taken)
      const free = Array.from({ length: 149 }, (_, i) => i + 2).filter((n) => !taken.has(n))
      expect(Result.isSuccess(given) ? given.success : undefined).toBe(free[0])
    }),
  )
  expect(allocateUserNumber(rootUserId, new Set())).toEqual(Result.succeed(1))
})

it("gives ranges a number that is neither taken nor reserved, the lowest one unless another is requested", () => {
  const { from, to } = rangeNumberSpan
  fc.assert(
    fc.property(numbers(from, to), numbers(from, to), fc.option(fc.integer({ min: -5, max: 300 })), (used, reserved, wish) => {
      const taken = new Set(used)
      const given = allocateRangeNumber({ id: "LAB", number: wish ?? undefined, reservedNumbers: reserved }, taken)
      const usable = (n: number) => n >= from && n <= to && !taken.has(n) && !reserved.includes(n)
      const lowest = Array.from({ length: to }, (_, i) => i + 1).find(usable)
      const expected = wish === null ? lowest : usable(wish) ? wish : undefined
      expect(Result.isSuccess(given) ? given.success : undefined).toBe(expected)
    }),
  )
})

it("gives machines VMIDs of the span, all different and none taken; for all of them or for none", () => {
  const span = { from: 100, to: 120 }
  fc.assert(
    fc.property(fc.array(fc.string()), numbers(95, 125), (machines, used) => {
      const taken = new Set(used)
      const given = allocateVmids(machines, span, taken)
      const free = Array.from({ length: 21 }, (_, i) => i + 100).filter((n) => !taken.has(n))
      const wanted = new Set(machines)
      if (wanted.size > free.length) {
        expect(Result.isFailure(given) && given.failure._tag).toBe("Exhausted")
        return
      }
      const vmids = Result.isSuccess(given) ? given.success : new Map<string, number>()
      expect([...vmids.keys()]).toEqual([...wanted])
      expect([...vmids.values()]).toEqual(free.slice(0, wanted.size))
    }),
  )
})

it("knows a router by its tag, or by the name it has when the configuration says nothing", () => {
  const lab = "LAB" as RangeId
  expect(isRouter({ name: "gateway", tags: ["rangewright", "router"] }, lab)).toBe(true)
  expect(isRouter({ name: "LAB-router-debian11-x64", tags: [] }, lab)).toBe(true)
  expect(isRouter({ name: "OTHER-router-debian11-x64", tags: ["rangewright"] }, lab)).toBe(false)
  expect(isRouter({ name: undefined, tags: [] }, lab)).toBe(false)
})
