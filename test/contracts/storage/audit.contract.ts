import { type AuditEntry, type AuditFilter, AuditTrail, type KeptAuditEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { hostileText, rangeId, userId } from "./samples.ts"
import { later, promises, type StorageUnderTest } from "./storage-under-test.ts"

const entry = (second: number, over: Partial<AuditEntry> = {}): AuditEntry => ({
  at: later(second),
  requestId: `request ${second}`,
  callerId: userId("alice"),
  actingAs: userId("bob"),
  operation: "deployRange",
  rangeId: rangeId("LAB"),
  detail: "tags=network",
  outcome: "ok",
  remote: "192.0.2.7",
  ...over,
})

const withoutId = (kept: KeptAuditEntry): AuditEntry => {
  const { id, ...recorded } = kept
  expect(id).toBeGreaterThan(0)
  return recorded
}

export const auditContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: audit trail`, () => {
    const it = promises(storage)

    it(
      "lists entries newest first",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        const anonymous = entry(1, { callerId: undefined, actingAs: undefined, rangeId: undefined, detail: hostileText })
        for (const recorded of [entry(0), anonymous, entry(1)]) yield* audit.record(recorded)
        expect((yield* audit.list(10)).map(withoutId)).toEqual([entry(1), anonymous, entry(0)])
        expect((yield* audit.list(1)).map(withoutId)).toEqual([entry(1)])
        expect(yield* audit.list(0)).toEqual([])
      }),
    )

    it(
      "can be read completely page by page, even while entries are added",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        for (let second = 0; second < 25; second++) yield* audit.record(entry(second))
        const seen: string[] = []
        let page = yield* audit.list(10)
        for (; page.length > 0; page = yield* audit.list(10, { before: page.at(-1)?.id ?? 0 })) {
          seen.push(...page.map(({ requestId }) => requestId))
          yield* audit.record(entry(100))
        }
        expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => `request ${24 - i}`))
      }),
    )

    it(
      "filters by user, impersonated user, operation, range, outcome, address and time, and by all of them together",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        const other = { callerId: userId("carol"), actingAs: userId("carol"), operation: "recordLogin", rangeId: undefined }
        yield* audit.record(entry(0))
        yield* audit.record(entry(1, { ...other, outcome: hostileText, remote: "2001:db8::1" }))
        yield* audit.record(entry(2, { ...other, actingAs: userId("alice"), rangeId: rangeId("WEB") }))
        const found = (filter: AuditFilter) =>
          Effect.map(audit.list(10, filter), (entries) => entries.map(({ requestId }) => Number(requestId.split(" ")[1])))
        expect(yield* found({ user: "alice" })).toEqual([2, 0])
        expect(yield* found({ user: "bob" })).toEqual([0])
        expect(yield* found({ user: "nobody" })).toEqual([])
        expect(yield* found({ operation: "recordLogin" })).toEqual([2, 1])
        expect(yield* found({ rangeId: "WEB" })).toEqual([2])
        expect(yield* found({ outcome: hostileText })).toEqual([1])
        expect(yield* found({ remote: "192.0.2.7" })).toEqual([2, 0])
        expect(yield* found({ since: later(1) })).toEqual([2, 1])
        expect(yield* found({ until: later(1) })).toEqual([0])
        expect(yield* found({ since: later(1), until: later(2), operation: "recordLogin" })).toEqual([1])
        expect(yield* found({ user: "carol", remote: "192.0.2.7", outcome: "ok" })).toEqual([2])
        expect(yield* found({ user: "' or 1=1 --" })).toEqual([])
      }),
    )

    it(
      "filters by the time of each entry, also when the clock was set back between them",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        for (const second of [10, 20, 30, 15, 25]) yield* audit.record(entry(second))
        const found = (filter: AuditFilter, limit = 10) =>
          Effect.map(audit.list(limit, filter), (entries) => entries.map(({ requestId }) => Number(requestId.split(" ")[1])))
        expect(yield* found({ since: later(20) })).toEqual([25, 30, 20])
        expect(yield* found({ until: later(20) })).toEqual([15, 10])
        expect(yield* found({ since: later(15), until: later(25) })).toEqual([15, 20])
        expect(yield* found({ since: later(15), until: later(25) }, 1)).toEqual([15])
        expect(yield* found({ since: later(25), until: later(15) })).toEqual([])
        expect(yield* found({ since: later(31) })).toEqual([])
      }),
    )

    const atDays = Effect.fnUntraced(function* (days: readonly number[]) {
      const audit = yield* AuditTrail
      for (const day of days) yield* audit.record(entry(day * 86_400))
    })
    const daysLeft = Effect.gen(function* () {
      const audit = yield* AuditTrail
      return (yield* audit.list(100)).map(({ at }) => (at.getTime() - later(0).getTime()) / 86_400_000)
    })

    it(
      "keeps the days on which it was written last, and returns how many entries went",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        expect(yield* audit.prune(1)).toBe(0)
        yield* atDays([0, 0.1, 1, 1.1, 2, 3])
        expect(yield* audit.prune(4)).toBe(0)
        expect(yield* audit.prune(2)).toBe(4)
        expect(yield* audit.prune(2)).toBe(0)
        expect(yield* daysLeft).toEqual([3, 2])
      }),
    )

    it(
      "loses nothing by a clock that is far ahead for a while, or far behind",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        yield* atDays([0, 1, 2, 30_000])
        expect(yield* audit.prune(4)).toBe(0)
        yield* atDays([3, -10_000])
        expect(yield* audit.prune(4)).toBe(2)
        expect(yield* daysLeft).toEqual([-10_000, 3, 30_000, 2])
        // both are a day like any other
        yield* atDays([3.1, 4, 5])
        expect(yield* audit.prune(4)).toBe(2)
        expect(yield* daysLeft).toEqual([5, 4, 3.1, -10_000, 3])
      }),
    )
  })
