import type { JournalEntry, Range, RunId, UserId } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { expect, test } from "vitest"
import { changeTesting } from "../src/range/change-testing.ts"

const range = (mode: "on" | "off") => ({ id: "LAB", testing: { mode, allowedDomains: [], allowedIps: [] } }) as unknown as Range

test("a stop that waited until another run stopped testing says so, and nothing about the router", async () => {
  const runId = "run000000000000" as RunId
  const message = "Cannot stop testing of range LAB: testing is not on"
  const ended = { seq: 1, at: new Date(0), event: { type: "Ended", status: "failure", message } } satisfies JournalEntry
  const engine = {
    start: () => Effect.succeed({ id: runId }),
    state: () => Effect.succeed({ lastSeq: 1 }),
    events: () => Stream.make(ended),
  }
  const request = { kind: "testing-stop", force: false } as const
  const fault = await Effect.runPromise(
    Effect.flip(changeTesting("stop testing of range LAB", range("on"), request, "off", "Ada" as UserId)).pipe(
      Effect.provideService(RunEngine, engine as never),
      Effect.provideService(Ranges, { find: () => Effect.succeed(range("off")) } as never),
      Effect.provideService(Machines, { freshness: Effect.succeed({}) } as never),
    ),
  )
  expect([fault.kind, fault.message]).toEqual(["conflict", message])
  expect(fault.hint).toContain("Start it first.")
})
