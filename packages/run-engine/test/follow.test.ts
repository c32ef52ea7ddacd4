import { makeMemoryStore, memoryStorageLayer } from "@rangewright/adapter-memory"
import { type RangeId, rangeSubject, type RunEvent, type RunHead, type RunId, type UserId } from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { followRun } from "../src/journal/follow.ts"
import { makeSignals, type Signals } from "../src/journal/signals.ts"
import { newRange } from "../../application/test/support/new-range.ts"

const removes = (kind: string): boolean => kind === "delete-range"

const at = new Date(0)
const range = "A" as RangeId
const head = (kind: string): RunHead => ({
  id: "run000000000001" as RunId,
  kind,
  subject: rangeSubject(range),
  by: "ADMIN1" as UserId,
  options: null,
  startedAt: at,
})

/** The last event for a follower of a run whose range another process removes. */
const endWhenRangeGoes = (kind: string) =>
  Effect.gen(function* () {
    const [journal, ranges] = [yield* RunJournal, yield* Ranges]
    yield* ranges.create(newRange(range))
    const run = head(kind)
    yield* journal.open(run, undefined)
    const looksOnce: RunJournal["Service"] = {
      ...journal,
      find: (id) => Effect.tap(journal.find(id), () => Effect.orDie(ranges.remove(range))),
    }
    const signals = makeSignals()
    const grown = { ...Latch.makeUnsafe(), await: Effect.void }
    const events: RunEvent[] = []
    yield* followRun(looksOnce, { ...signals, listen: () => Effect.succeed(grown) }, new Map(), removes, run.id, 0).pipe(
      Stream.runForEach(({ event }) => Effect.sync(() => void events.push(event))),
    )
    return events.at(-1)
  }).pipe(Effect.provide(memoryStorageLayer(makeMemoryStore())), Effect.runPromise)

describe("the end of a run whose journal went with its range", () => {
  it("is success for the run that removed the range", async () => {
    expect(await endWhenRangeGoes("delete-range")).toMatchObject({ type: "Ended", status: "success" })
  })
  it("is not success for a run that waited behind it", async () => {
    expect(await endWhenRangeGoes("deploy")).toMatchObject({
      type: "Ended",
      status: "aborted",
      message: expect.stringContaining("removed"),
    })
  })
})

describe("a follower of a run", () => {
  const run = head("deploy")
  const following = <A>(
    use: (journal: RunJournal["Service"], signals: Signals, events: ReturnType<typeof followRun>) => Effect.Effect<A, unknown>,
  ) =>
    Effect.gen(function* () {
      yield* (yield* Ranges).create(newRange(range))
      const journal = yield* RunJournal
      yield* journal.open(run, undefined)
      const signals = makeSignals()
      return yield* use(journal, signals, followRun(journal, signals, new Map(), removes, run.id, 0))
    }).pipe(Effect.provide(memoryStorageLayer(makeMemoryStore())), Effect.runPromise)

  it("leaves no listener behind, whether the run ends or the follower leaves", () =>
    following((journal, signals, events) =>
      Effect.gen(function* () {
        const follower = yield* Effect.forkChild(Stream.runDrain(events))
        while (signals.size() === 0) yield* Effect.yieldNow
        yield* Fiber.interrupt(follower)
        expect(signals.size()).toBe(0)
        yield* journal.close(run.id, 0, { type: "Ended", status: "success", message: "" }, undefined, at)
        yield* Stream.runDrain(events)
        yield* Stream.runDrain(followRun(journal, signals, new Map(), removes, run.id, 1))
        expect(signals.size()).toBe(0)
      }),
    ))

  it("is notified of entries that are written while it waits, before it polls", () =>
    following((journal, signals, events) =>
      Effect.gen(function* () {
        const follower = yield* Effect.forkChild(Stream.runCollect(events))
        while (signals.size() === 0) yield* Effect.yieldNow
        yield* journal.close(run.id, 0, { type: "Ended", status: "success", message: "" }, undefined, at)
        signals.notify(run.id)
        expect((yield* Fiber.join(follower)).map(({ event }) => event.type)).toEqual(["Ended"])
      }),
    ))
})
