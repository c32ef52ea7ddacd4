import type { JournalEntry, RunEvent } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { RunEventObject, runEventObject } from "../src/wire/run-event.ts"

const at = new Date(0)
const entryOf = (event: unknown): JournalEntry => ({ seq: 1, at, event: event as RunEvent })
const shownOf = (event: unknown) => Schema.encodeSync(RunEventObject)(runEventObject(entryOf(event))!)

const failure = { tag: "HypervisorFault", kind: "unavailable", message: "m", hint: "h", secret: "s" }
const plan = { rangeId: "LAB", steps: [], changes: [], placements: [], allocations: [], notes: [], criticalPathSeconds: 3 }
const facts = { address: "10.0.0.1", addresses: ["10.0.0.1"], foreignAddresses: ["10.9.9.9"], changed: true, warnings: ["w"] }

/** Events as journaled, each with a member that a later version may add, and as clients see them. */
const events: Readonly<Record<RunEvent["type"], readonly [event: object, shown: object]>> = {
  Planned: [
    { plan: { ...plan, secret: "s" } },
    {
      plan: {
        rangeID: "LAB",
        text: expect.any(String),
        steps: [],
        changes: [],
        placements: [],
        allocations: [],
        notes: [],
        estimateSeconds: 3,
      },
    },
  ],
  StepStarted: [
    { key: "k", attempt: 1 },
    { key: "k", attempt: 1 },
  ],
  StepDispatched: [
    { key: "k", attempt: 1, token: "UPID" },
    { key: "k", attempt: 1 },
  ],
  StepSettled: [
    { key: "k", facts: { ...facts, data: { a: 1 }, secret: "s" } },
    { key: "k", facts: { ...facts, data: { a: 1 } } },
  ],
  StepFailed: [
    { key: "k", final: true, failure },
    { key: "k", final: true, failure: { fault: "HypervisorFault", message: "m", hint: "h" } },
  ],
  StepSkipped: [
    { key: "k", because: "b" },
    { key: "k", because: "b" },
  ],
  Reallocated: [
    { machine: "m", from: 1, to: 2 },
    { machine: "m", from: 1, to: 2 },
  ],
  Output: [
    { key: "k", text: "t" },
    { key: "k", text: "t" },
  ],
  StepProgress: [
    { key: "k", done: 0.5, total: undefined },
    { key: "k", done: 0.5 },
  ],
  Waiting: [
    { reason: "r", key: "k" },
    { reason: "r", key: "k" },
  ],
  Continued: [
    { reason: "r", behind: "run" },
    { reason: "r", behind: "run" },
  ],
  Resumed: [{ generation: 2 }, { generation: 2 }],
  Notified: [
    { to: "discord (notify.urls[0])", because: "b" },
    { to: "discord (notify.urls[0])", because: "b" },
  ],
  CancelRequested: [{ by: "JD" }, { by: "JD" }],
  Ended: [
    { status: "failure", message: "m" },
    { status: "failure", message: "m" },
  ],
}

describe("what watchers see of a run's events", () => {
  it.each(Object.entries(events))("%s: the members that are meant for them, and no other", (type, [event, shown]) => {
    expect(shownOf({ type, ...event, secret: "s" })).toEqual({ seq: 1, at: at.toISOString(), type, ...shown })
  })

  it("nothing for an event of a kind that only a newer version knows", () => {
    expect(runEventObject(entryOf({ type: "Sealed", secret: "s" }))).toBeUndefined()
    expect(runEventObject(entryOf({ type: "toString", secret: "s" }))).toBeUndefined()
  })
})
