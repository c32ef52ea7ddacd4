import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { aliceWithLab, deployRun, runId } from "./samples.ts"
import { aheadBy, later, pass, promises, type StorageUnderTest } from "./storage-under-test.ts"

const hour = 3600
const run = deployRun("run")
const openRun = Effect.gen(function* () {
  yield* aliceWithLab
  yield* (yield* RunJournal).open(run, "DEPLOYING")
  return yield* RunJournal
})

export const leaseContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: lease`, () => {
    const it = promises(storage)

    it(
      "belongs to one owner until it expires; the generation rises with each claim",
      Effect.gen(function* () {
        const journal = yield* openRun
        expect(yield* journal.claim(run.id, "one", 300)).toBe(1)
        yield* pass(storage, 290)
        expect(yield* journal.claim(run.id, "two", 300)).toBeUndefined()
        expect(yield* journal.claim(run.id, "one", 300)).toBe(2)
        yield* pass(storage, 290)
        expect(yield* journal.claim(run.id, "two", 300)).toBeUndefined()
        yield* pass(storage, 10)
        expect(yield* journal.claim(run.id, "two", 300)).toBe(3)
      }),
    )

    it(
      "goes to one of many concurrent claimants",
      Effect.gen(function* () {
        const journal = yield* openRun
        const claims = Array.from({ length: 10 }, (_, i) => journal.claim(run.id, `worker ${i}`, 300))
        const generations = yield* Effect.all(claims, { concurrency: "unbounded" })
        expect(generations.filter((generation) => generation !== undefined)).toEqual([1])
      }),
    )

    it(
      "is renewed by its holder, even late, as long as nobody else has claimed it",
      Effect.gen(function* () {
        const journal = yield* openRun
        yield* journal.claim(run.id, "one", 300)
        yield* pass(storage, 200)
        expect(yield* journal.renew(run.id, 1, 300)).toBe(true)
        yield* pass(storage, 200)
        expect(yield* journal.claim(run.id, "two", 300)).toBeUndefined()
        yield* pass(storage, 600)
        expect(yield* journal.renew(run.id, 1, 300)).toBe(true)
        expect(yield* journal.claim(run.id, "two", 300)).toBeUndefined()
        yield* pass(storage, 300)
        expect(yield* journal.claim(run.id, "two", 300)).toBe(2)
        expect(yield* journal.renew(run.id, 1, 300)).toBe(false)
        expect(yield* journal.renew(run.id, 2, 300)).toBe(true)
      }),
    )

    for (const skew of [hour, -hour])
      it(
        `lasts its exact time, whether the holder lives or not, when the holder's time of day is ${skew} seconds off`,
        Effect.gen(function* () {
          const journal = yield* openRun
          const skewed = aheadBy(skew)
          expect(yield* skewed(journal.claim(run.id, "skewed", 300))).toBe(1)
          expect(yield* journal.claim(run.id, "right", 300)).toBeUndefined()
          yield* pass(storage, 290)
          expect(yield* skewed(journal.renew(run.id, 1, 300))).toBe(true)
          yield* pass(storage, 290)
          expect(yield* journal.claim(run.id, "right", 300)).toBeUndefined()
          yield* pass(storage, 10)
          expect(yield* journal.claim(run.id, "right", 300)).toBe(2)
          expect(yield* skewed(journal.claim(run.id, "skewed", 300))).toBeUndefined()
          expect(yield* skewed(journal.renew(run.id, 1, 300))).toBe(false)
          yield* pass(storage, 300)
          expect(yield* skewed(journal.claim(run.id, "skewed", 300))).toBe(3)
        }),
      )

    it(
      "with an end beyond the longest possible, as after its clock was set back, blocks nobody",
      Effect.gen(function* () {
        const journal = yield* openRun
        yield* journal.claim(run.id, "one", hour)
        expect(yield* journal.claim(run.id, "two", 300)).toBe(2)
        expect(yield* journal.renew(run.id, 1, 300)).toBe(false)
      }),
    )

    it(
      "can be released only by its holder",
      Effect.gen(function* () {
        const journal = yield* openRun
        yield* journal.claim(run.id, "one", 300)
        yield* journal.release(run.id, 7)
        expect(yield* journal.claim(run.id, "two", 300)).toBeUndefined()
        yield* journal.release(run.id, 1)
        expect(yield* journal.renew(run.id, 1, 300)).toBe(false)
        expect(yield* journal.claim(run.id, "two", 300)).toBe(2)
      }),
    )

    it(
      "ends with its run",
      Effect.gen(function* () {
        const journal = yield* openRun
        yield* journal.claim(run.id, "one", 300)
        yield* (yield* RunJournal).close(run.id, 1, { type: "Ended", status: "success", message: "" }, "SUCCESS", later(1))
        expect(yield* journal.renew(run.id, 1, 300)).toBe(false)
        expect(yield* journal.claim(run.id, "one", 300)).toBeUndefined()
        expect(yield* journal.claim(runId("unknown"), "one", 300)).toBeUndefined()
        yield* journal.release(runId("unknown"), 1)
      }),
    )
  })
