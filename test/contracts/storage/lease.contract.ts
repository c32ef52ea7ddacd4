import { Lease, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { aliceWithLab, deployRun, runId } from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

const run = deployRun("run")
const openRun = Effect.gen(function* () {
  yield* aliceWithLab
  yield* (yield* RunJournal).open(run, "DEPLOYING")
  return yield* Lease
})

export const leaseContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: lease`, () => {
    const it = promises(storage)

    it(
      "belongs to one owner until it runs out; the generation goes up with each claim",
      Effect.gen(function* () {
        const lease = yield* openRun
        expect(yield* lease.claim(run.id, "one", startedAt, 30)).toBe(1)
        expect(yield* lease.claim(run.id, "two", later(29), 30)).toBeUndefined()
        expect(yield* lease.claim(run.id, "one", later(29), 30)).toBe(2)
        expect(yield* lease.claim(run.id, "two", later(59), 30)).toBe(3)
      }),
    )

    it(
      "goes to one of many that claim it at once",
      Effect.gen(function* () {
        const lease = yield* openRun
        const claims = Array.from({ length: 10 }, (_, i) => lease.claim(run.id, `worker ${i}`, startedAt, 30))
        const generations = yield* Effect.all(claims, { concurrency: "unbounded" })
        expect(generations.filter((generation) => generation !== undefined)).toEqual([1])
      }),
    )

    it(
      "is renewed by its holder, also late, as long as nobody else has claimed it",
      Effect.gen(function* () {
        const lease = yield* openRun
        yield* lease.claim(run.id, "one", startedAt, 30)
        expect(yield* lease.renew(run.id, 1, later(20), 30)).toBe(true)
        expect(yield* lease.claim(run.id, "two", later(40), 30)).toBeUndefined()
        expect(yield* lease.renew(run.id, 1, later(100), 30)).toBe(true)
        expect(yield* lease.claim(run.id, "two", later(131), 30)).toBe(2)
        expect(yield* lease.renew(run.id, 1, later(132), 30)).toBe(false)
        expect(yield* lease.renew(run.id, 2, later(132), 30)).toBe(true)
      }),
    )

    it(
      "can be given back by its holder only",
      Effect.gen(function* () {
        const lease = yield* openRun
        yield* lease.claim(run.id, "one", startedAt, 30)
        yield* lease.release(run.id, 7)
        expect(yield* lease.claim(run.id, "two", later(1), 30)).toBeUndefined()
        yield* lease.release(run.id, 1)
        expect(yield* lease.renew(run.id, 1, later(1), 30)).toBe(false)
        expect(yield* lease.claim(run.id, "two", later(1), 30)).toBe(2)
      }),
    )

    it(
      "ends with its run",
      Effect.gen(function* () {
        const lease = yield* openRun
        yield* lease.claim(run.id, "one", startedAt, 30)
        yield* (yield* RunJournal).close(run.id, 1, { type: "Ended", status: "success", message: "" }, "SUCCESS", later(1))
        expect(yield* lease.renew(run.id, 1, later(2), 30)).toBe(false)
        expect(yield* lease.claim(run.id, "one", later(60), 30)).toBeUndefined()
        expect(yield* lease.claim(runId("unknown"), "one", later(60), 30)).toBeUndefined()
        yield* lease.release(runId("unknown"), 1)
      }),
    )
  })
