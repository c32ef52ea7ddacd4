import type { RunId, SlotDemand } from "@rangewright/domain"
import { RunJournal, SharedSlots } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { aliceWithLab, runId, userId } from "./samples.ts"
import { later, pass, promises, type StorageUnderTest } from "./storage-under-test.ts"

const leaseSeconds = 300
const ids = ["one", "two", "three"].map(runId)
const [one = ids[0]!, two = ids[0]!, three = ids[0]!] = ids

/** Three runs, each under the lease of a process of its own. */
const openRuns = Effect.gen(function* () {
  yield* aliceWithLab
  for (const id of ids) {
    const subject = { type: "source", id: `source ${id}` } as const
    yield* (yield* RunJournal).open(
      { id, kind: "fetch", subject, by: userId("alice"), options: null, startedAt: later(0) },
      undefined,
    )
    yield* (yield* RunJournal).claim(id, `process of ${id}`, leaseSeconds)
  }
})

const demand = (run: RunId, waiting: number, rest: Partial<SlotDemand> = {}): SlotDemand => ({
  run,
  generation: 1,
  by: userId("alice"),
  held: 0,
  had: 0,
  waiting: Array.from({ length: waiting }, () => 10),
  ...rest,
})

/** Asks for one resource as a process does. */
const say = (slots: number, ...demands: readonly SlotDemand[]) =>
  Effect.gen(function* () {
    const shared = yield* SharedSlots
    if (shared === undefined) return yield* Effect.die(new Error("nothing is shared"))
    const [answer] = yield* shared.share([{ resource: "clone@fast", slots, demands }], leaseSeconds)
    return answer
  })

/** The same; returns the number granted to each. */
const ask = (slots: number, ...demands: readonly SlotDemand[]) =>
  Effect.map(say(slots, ...demands), (answer) => answer?.granted ?? [])

/** For stores that several processes share. */
export const sharedSlotsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: shared slots`, () => {
    const it = promises(storage)

    it(
      "never exceed their number under concurrent requests",
      Effect.gen(function* () {
        yield* openRuns
        const asked = ids.map((id) => ask(4, demand(id, 3)))
        yield* Effect.all(asked, { concurrency: "unbounded" })
        // a process learns of slots that it was granted meanwhile when it asks again
        const granted = yield* Effect.forEach(ids, (id) => ask(4, demand(id, 3)))
        const all = granted.flat().reduce((sum, n) => sum + n, 0)
        expect(all).toBeLessThanOrEqual(4)
        expect(all).toBeGreaterThan(0)
      }),
    )

    it(
      "are free again when they were returned, even for another process",
      Effect.gen(function* () {
        yield* openRuns
        expect(yield* ask(2, demand(one, 3))).toEqual([2])
        expect(yield* ask(2, demand(two, 1))).toEqual([0])
        expect(yield* ask(2, demand(one, 0, { held: 1, had: 20 }))).toEqual([0])
        expect(yield* ask(2, demand(two, 1))).toEqual([1])
      }),
    )

    it(
      "stay with a run whose process is gone until the next one reports what is in progress, and end with the run",
      Effect.gen(function* () {
        yield* openRuns
        expect(yield* ask(2, demand(one, 5))).toEqual([2])
        yield* pass(storage, leaseSeconds)
        yield* (yield* RunJournal).renew(two, 1, leaseSeconds)
        expect(yield* ask(2, demand(two, 1))).toEqual([0])
        // it may have been stopped, and gets nothing before it has renewed its lease
        expect(yield* ask(2, demand(one, 5))).toEqual([0])
        expect(yield* (yield* RunJournal).claim(one, "next", leaseSeconds)).toBe(2)
        expect(yield* ask(2, demand(one, 0, { generation: 2, held: 1, had: 10 }))).toEqual([0])
        expect(yield* ask(2, demand(one, 5))).toEqual([0])
        expect(yield* ask(2, demand(two, 2))).toEqual([1])
        yield* (yield* RunJournal).close(one, 2, { type: "Ended", status: "success", message: "" }, undefined, later(1))
        expect(yield* ask(2, demand(two, 1, { held: 1, had: 10 }))).toEqual([1])
      }),
    )

    it(
      "returned while the run's lease has expired stay taken, and the answer says so until the lease is renewed",
      Effect.gen(function* () {
        yield* openRuns
        expect(yield* ask(1, demand(one, 1))).toEqual([1])
        yield* pass(storage, leaseSeconds)
        yield* (yield* RunJournal).renew(two, 1, leaseSeconds)
        const givenBack = demand(one, 0, { had: 10 })
        expect((yield* say(1, givenBack))?.counted).toEqual([false])
        expect(yield* ask(1, demand(two, 1))).toEqual([0])
        yield* (yield* RunJournal).renew(one, 1, leaseSeconds)
        expect((yield* say(1, givenBack))?.counted).toEqual([true])
        expect(yield* ask(1, demand(two, 1))).toEqual([1])
      }),
    )

    it(
      "of several resources are shared out at once, in any order",
      Effect.gen(function* () {
        yield* openRuns
        const shared = yield* SharedSlots
        const of = (id: RunId, resources: readonly string[]) =>
          shared?.share(
            resources.map((resource) => ({ resource, slots: 1, demands: [demand(id, 1)] })),
            leaseSeconds,
          ) ?? Effect.succeed([])
        const asked = [of(one, ["a", "b", "c"]), of(two, ["c", "b", "a"]), of(three, ["b", "c", "a"])]
        const answers = yield* Effect.all([...asked, ...asked], { concurrency: "unbounded" })
        expect(answers.map((each) => each.length)).toEqual([3, 3, 3, 3, 3, 3])
      }),
    )
  })
