import { type AuditEntry, AuditTrail } from "@rangewright/ports"
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

export const auditContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: audit trail`, () => {
    const it = promises(storage)

    it(
      "lists what was recorded, newest first",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        const anonymous = entry(1, { callerId: undefined, actingAs: undefined, rangeId: undefined, detail: hostileText })
        for (const recorded of [entry(0), anonymous, entry(1)]) yield* audit.record(recorded)
        expect(yield* audit.list(10)).toEqual([entry(1), anonymous, entry(0)])
        expect(yield* audit.list(1)).toEqual([entry(1)])
        expect(yield* audit.list(0)).toEqual([])
      }),
    )

    it(
      "prunes what is older and says how much went",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        for (const second of [0, 1, 2, 3]) yield* audit.record(entry(second))
        expect(yield* audit.prune(later(2))).toBe(2)
        expect(yield* audit.prune(later(2))).toBe(0)
        expect((yield* audit.list(10)).map((recorded) => recorded.at)).toEqual([later(3), later(2)])
      }),
    )
  })
