import { makeMemoryStore, memoryStorageLayer } from "@rangewright/adapter-memory"
import { blockingRangeRuns } from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import {
  emptyRunState,
  installation,
  type JournalEntry,
  type RangeId,
  rangeSubject,
  type RunEvent,
  type RunHead,
  type RunId,
  type RunSubject,
  type UserId,
} from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { endOfRun } from "@rangewright/run-engine"
import { newRange } from "./support/new-range.ts"

const at = new Date(0)
const names = ["A", "B", "C"] as const
const subjects: readonly RunSubject[] = [installation, ...names.map((name) => rangeSubject(name as RangeId))]

const addRanges = Effect.flatMap(Ranges, (ranges) => Effect.forEach(names, (name) => ranges.create(newRange(name))))

const headOf = (n: number, subject: RunSubject): RunHead => ({
  id: `run${String(n).padStart(12, "0")}` as RunId,
  kind: subject.type === "range" ? "deploy" : "move",
  subject,
  by: "ADMIN1" as UserId,
  options: null,
  startedAt: new Date(n),
})

describe("of an unfinished run of a range and one of the installation", () => {
  it("exactly one waits for the other, whatever was opened and ended before", async () => {
    const history = fc.array(fc.constantFrom(...subjects.keys()), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const program = Effect.gen(function* () {
          const journal = yield* RunJournal
          yield* addRanges
          for (const [n, which] of steps.entries()) {
            const subject = subjects[which]!
            const going = yield* journal.active(subject)
            // a step ends the subject's run, or opens one
            if (going === undefined) yield* journal.open(headOf(n, subject), undefined)
            else yield* journal.close(going.id, 0, { type: "Ended", status: "success", message: "" }, undefined, at)
            const unfinished = yield* journal.unfinished
            const move = yield* journal.active(installation)
            const awaited = new Set(blockingRangeRuns(unfinished).map(({ id }) => id))
            for (const run of unfinished.filter((one) => one.subject.type === "range")) {
              const waits = move !== undefined && run.blockedBy === move.id
              expect(awaited.has(run.id)).toBe(!waits)
              if (move !== undefined) expect(waits).toBe(run.startedAt > move.startedAt)
            }
          }
        })
        await Effect.runPromise(Effect.provide(program, memoryStorageLayer(makeMemoryStore())))
      }),
    )
  })
})

describe("a call that waits for the end of a run", () => {
  const runId = headOf(1, installation).id
  type Pause = Extract<RunEvent, { readonly type: "Waiting" | "Continued" }>
  /** The result of the call when the run has these pauses, the first `before` of them before the call, and ends later. */
  const outcome = (pauses: readonly Pause[], before = 0) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const told = yield* Deferred.make<void>()
        const entries = pauses.map((event, index): JournalEntry => ({ seq: index + 1, at, event }))
        const event = { type: "Ended" as const, status: "success" as const, message: "" }
        const end: JournalEntry = { seq: pauses.length + 1, at, event }
        const all = Stream.fromIterable(entries).pipe(
          Stream.tap(({ seq }) => (seq === entries.length ? Deferred.succeed(told, undefined) : Effect.void)),
        )
        const engine = {
          state: () => Effect.succeed({ ...emptyRunState, lastSeq: before }),
          events: () => Stream.concat(all, Stream.fromEffect(Effect.as(Deferred.await(ended), end))),
        } as unknown as RunEngine["Service"]
        const ended = yield* Deferred.make<void>()
        const call = yield* Effect.forkChild(
          Effect.result(endOfRun("power on range LAB", runId)).pipe(Effect.provideService(RunEngine, engine)),
        )
        yield* Deferred.await(told)
        yield* Effect.yieldNow
        yield* Deferred.succeed(ended, undefined)
        return yield* Fiber.join(call)
      }),
    )

  it("continues to wait while the run waits for another one", async () => {
    expect(await outcome([{ type: "Waiting", reason: "run x is changing the installation", behind: runId }])).toMatchObject({
      _tag: "Success",
      success: { status: "success" },
    })
  })

  const away: Pause = { type: "Waiting", reason: "node1 does not answer" }
  const back: Pause = { type: "Continued", reason: "the hypervisor answers again" }

  it("ends when the run begins to wait for the hypervisor, or does so already", async () => {
    const ends = { _tag: "Failure", failure: { _tag: "HypervisorAway" } }
    expect(await outcome([away])).toMatchObject(ends)
    expect(await outcome([away], 1)).toMatchObject(ends)
    expect(await outcome([away, back, away], 2)).toMatchObject(ends)
  })

  it("continues to wait if the run waited earlier and has continued", async () => {
    expect(await outcome([away, back], 2)).toMatchObject({ _tag: "Success", success: { status: "success" } })
  })
})
