import { Machines, Ranges, RunJournal, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it, type SuiteCollector } from "vitest"
import { aliceWithLab, cluster, deployRun, machine } from "./samples.ts"
import { startedAt, type StorageUnderTest } from "./storage-under-test.ts"

export const restartContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: restart`, () => {
    it("keeps everything that was acknowledged", async () => {
      const { layer, remove } = await storage.empty()
      const run = deployRun("run")
      const { user, range } = await Effect.runPromise(
        Effect.gen(function* () {
          const made = yield* aliceWithLab
          yield* (yield* Machines).replace(cluster(startedAt, [machine(102)]))
          yield* (yield* RunJournal).open(run, undefined)
          yield* (yield* RunJournal).append(run.id, 0, [{ type: "Waiting", reason: "x" }], startedAt)
          return { ...made, range: (yield* (yield* Ranges).find(made.range.id)) ?? made.range }
        }).pipe(Effect.provide(layer, { local: true })),
      )
      await Effect.runPromise(
        Effect.gen(function* () {
          expect(yield* (yield* Users).list).toEqual([user])
          expect(yield* (yield* Ranges).list()).toEqual([range])
          expect(yield* (yield* Machines).ofRange(range.id)).toHaveLength(1)
          expect((yield* (yield* RunJournal).unfinished).map(({ id, lastSeq }) => [id, lastSeq])).toEqual([[run.id, 1]])
        }).pipe(Effect.provide(layer, { local: true })),
      )
      await remove()
    })
  })
