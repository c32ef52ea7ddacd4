import {
  installation,
  type Json,
  type RecordId,
  type RunEvent,
  type RunHead,
  type RunId,
  type RunSubject,
  type SourceId,
  type User,
  workPlan,
} from "@rangewright/domain"
import { RunJournal, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"
import { stepOf } from "./support/scripted-runs.ts"

let app: TestApp
let admin: User
let ada: User
let bob: User
let eve: User
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
  eve = await app.addUser("Eve")
  await app.run(
    Effect.flatMap(Sources, (sources) =>
      sources.create({
        recordId: source.id as RecordId,
        id: "web/labs" as SourceId,
        owner: ada.id,
        type: "upload",
        url: "",
        ref: "",
        path: "",
        name: "labs",
        access: undefined,
        schedule: undefined,
        nextSyncAt: undefined,
        createdAt: new Date(0),
      }),
    ),
  )
})

const source: RunSubject = { type: "source", id: "recordofsource0" }
const input: Json = { name: "web", token: "hunter2" }
const plan = workPlan([{ ...stepOf("item:web", { kind: "work", work: "install-item", input }), tolerated: true }])
const events: readonly RunEvent[] = [
  { type: "Planned", plan },
  { type: "StepStarted", key: "item:web", attempt: 1 },
  { type: "StepDispatched", key: "item:web", attempt: 1, token: null },
  { type: "StepProgress", key: "item:web", done: 3, total: 4 },
]
let started = 0

/** A run that Bob started, with these events in its journal. */
const runAbout = (subject: RunSubject, more: readonly RunEvent[] = []): Promise<RunId> => {
  const head: RunHead = {
    id: `work${String(++started).padStart(11, "0")}` as RunId,
    kind: "source-install",
    subject,
    by: bob.id,
    options: null,
    startedAt: new Date(Date.UTC(2026, 0, 1, 0, 0, started)),
  }
  return app.run(
    Effect.gen(function* () {
      const journal = yield* RunJournal
      yield* journal.open(head, undefined)
      yield* journal.append(head.id, 0, [...events, ...more], head.startedAt)
      return head.id
    }),
  )
}
const idsFor = async (user: User) =>
  ((await app.call("listRuns", user)) as readonly { readonly id: string }[]).map(({ id }) => id)

describe("a run whose subject is not a range", () => {
  it("shows its subject, and the progress and results of its steps", async () => {
    const runID = await runAbout(source)
    const run = await app.call("getRun", bob, { path: { runID } })
    expect(run).toMatchObject({
      kind: "source-install",
      subject: source,
      status: "running",
      progress: { total: 1, running: 1, percent: 75 },
      steps: [{ key: "item:web", action: "install-item", phase: "dispatched", tolerated: true, progress: { done: 3, total: 4 } }],
    })
    expect(run).not.toHaveProperty("rangeID")
    expect(JSON.stringify(run)).not.toContain("hunter2")
    const done = await runAbout({ type: "source", id: "other" }, [
      { type: "StepSettled", key: "item:web", facts: { data: { version: "1.2.3" } } },
    ])
    expect(await app.call("getRun", bob, { path: { runID: done } })).toMatchObject({
      steps: [{ phase: "settled", data: { version: "1.2.3" } }],
    })
  })

  it("is open to the user who started it, the owner of its subject, and administrators", async () => {
    const runID = await runAbout(source)
    for (const user of [bob, ada, admin]) {
      expect(await app.call("getRun", user, { path: { runID } })).toMatchObject({ id: runID })
      expect(await idsFor(user)).toEqual([runID])
    }
    for (const operation of ["getRun", "streamRunEvents", "cancelRun", "resumeRun"])
      expect(await app.fails(operation, eve, { path: { runID } })).toMatchObject({
        kind: "forbidden",
        message: `Cannot use run ${runID}: it is not yours`,
      })
    expect(await idsFor(eve)).toEqual([])
  })

  it("that changes the installation is for administrators alone, whoever started it", async () => {
    const runID = await runAbout(installation)
    expect(await app.fails("getRun", bob, { path: { runID } })).toMatchObject({ kind: "forbidden" })
    expect(await idsFor(bob)).toEqual([])
    expect(await app.call("getRun", admin, { path: { runID } })).toMatchObject({ subject: installation })
  })

  it("is listed among the runs of ranges, newest first", async () => {
    const range = await app.addRange("LAB", [bob])
    const first = await runAbout(source)
    const { runID } = (await app.call("deployRange", bob, { range })) as { readonly runID: string }
    expect(await idsFor(bob)).toEqual([runID, first])
    expect(await app.call("listRuns", bob, { range })).toMatchObject([
      { id: runID, rangeID: "LAB", subject: { type: "range", id: "LAB" } },
    ])
  })

  it("is cancelled by its owner, once", async () => {
    const runID = await runAbout(source)
    expect(await app.call("cancelRun", ada, { path: { runID } })).toEqual({
      result: `Run ${runID} of source recordofsource0 is being cancelled`,
    })
    expect(await app.call("getRun", bob, { path: { runID } })).toMatchObject({ cancelRequested: true })
  })
})
