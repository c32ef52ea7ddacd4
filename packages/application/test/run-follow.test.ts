import { makeMemoryStore, memoryStorageLayer } from "@rangewright/adapter-memory"
import {
  type RangeId,
  rangeSubject,
  type RecordId,
  type RunEvent,
  type RunHead,
  type RunId,
  type UserId,
} from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, it } from "vitest"
import { followRun } from "../src/run/follow.ts"
import { makeSignals } from "../src/run/signals.ts"

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

/** What a follower is told last of a run whose range another process removes. */
const endWhenRangeGoes = (kind: string) =>
  Effect.gen(function* () {
    const [journal, ranges] = [yield* RunJournal, yield* Ranges]
    yield* ranges.create({
      id: range,
      recordId: "a00000000000000" as RecordId,
      number: undefined,
      reservedNumbers: [],
      name: "A",
      description: "",
      purpose: "",
      config: "",
      createdBy: undefined,
      owners: [],
      createdAt: at,
    })
    const run = head(kind)
    yield* journal.open(run, undefined)
    const looksOnce: RunJournal["Service"] = {
      ...journal,
      find: (id) => Effect.tap(journal.find(id), () => Effect.orDie(ranges.remove(range))),
    }
    const signals = makeSignals()
    const next: typeof signals.next = () => Effect.void
    const events: RunEvent[] = []
    yield* followRun(looksOnce, { ...signals, next }, new Map(), run.id, 0).pipe(
      Stream.runForEach(({ event }) => Effect.sync(() => void events.push(event))),
    )
    return events.at(-1)
  }).pipe(Effect.provide(memoryStorageLayer(makeMemoryStore())), Effect.runPromise)

describe("the end of a run whose journal went with its range", () => {
  it("is success for the run that removed the range", async () => {
    expect(await endWhenRangeGoes("delete-range")).toMatchObject({ type: "Ended", status: "success" })
  })
  it("is no success for one that waited behind it", async () => {
    expect(await endWhenRangeGoes("deploy")).toMatchObject({
      type: "Ended",
      status: "aborted",
      message: expect.stringContaining("removed"),
    })
  })
})
