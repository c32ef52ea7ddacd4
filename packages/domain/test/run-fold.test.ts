import {
  concludeRun,
  criticalPathOf,
  emptyRunState,
  foldRun,
  isCancellable,
  macOf,
  openFold,
  progressOf,
  expectedSecondsIn,
  rangeStateAfter,
  rangeStateDuring,
  type RunEvent,
  type Vmid,
  waitingFor,
} from "@rangewright/domain"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { entriesOf, planOf, refTo, secondOf, stepOf } from "./run-journals.ts"

const keys = ["a:m1", "b:m1", "c:m2"] as const
const plan = planOf([stepOf("a:m1", []), stepOf("b:m1", ["a:m1"]), stepOf("c:m2", [], 40)])
const failure = { tag: "HypervisorFault", kind: "unavailable", message: "Cannot clone: disk full" }

const key = fc.constantFrom(...keys, "unknown:m9")
const anyEvent: fc.Arbitrary<RunEvent> = fc.oneof(
  fc.constant<RunEvent>({ type: "Planned", plan }),
  fc.record({ type: fc.constant("StepStarted" as const), key, attempt: fc.nat(5) }),
  fc.record({ type: fc.constant("StepDispatched" as const), key, attempt: fc.nat(5), token: fc.constantFrom(null, "t1") }),
  fc.record({ type: fc.constant("StepProgress" as const), key, done: fc.double(), total: fc.constantFrom(undefined, 0, 4) }),
  fc.record({ type: fc.constant("StepSettled" as const), key, facts: fc.constant({}) }),
  fc.record({ type: fc.constant("StepFailed" as const), key, failure: fc.constant(failure), final: fc.boolean() }),
  fc.record({ type: fc.constant("StepSkipped" as const), key, because: fc.constant("b") }),
  fc.constant<RunEvent>({ type: "Reallocated", machine: "m1", from: 200 as Vmid, to: 201 as Vmid }),
  fc.constant<RunEvent>({ type: "Waiting", reason: "away" }),
  fc.constant<RunEvent>({ type: "Continued", reason: "back" }),
  fc.record({ type: fc.constantFrom("Waiting" as const, "Continued" as const), reason: fc.constant("r"), key }),
  fc.constant<RunEvent>({ type: "Resumed", generation: 2 }),
  fc.record({ type: fc.constant("Output" as const), key, text: fc.string() }),
  fc.constant<RunEvent>({ type: "CancelRequested", by: "JD" as never }),
  fc.constant<RunEvent>({ type: "Ended", status: "failure", message: "m" }),
)
const journal = fc.array(anyEvent, { maxLength: 60 }).map(entriesOf)

describe("the fold of a journal", () => {
  it("gives a state for any entries in any order, and never a step that is not in the plan", () => {
    fc.assert(
      fc.property(journal, (entries) => {
        const state = foldRun(entries)
        expect(state.lastSeq).toBe(entries.length)
        expect([...state.steps.keys()]).toEqual(state.plan === undefined ? [] : keys)
        const progress = progressOf(state, secondOf(100))
        expect(progress.done + progress.skipped + progress.running).toBeLessThanOrEqual(progress.total)
        if (state.status === "aborted" || state.status === "failure") expect(progress.percent).toBeLessThan(100)
        expect(progress.percent).toBeGreaterThanOrEqual(0)
        expect(progress.percent).toBeLessThanOrEqual(100)
        expect(state.waited.filter(({ to }) => to === undefined)).toHaveLength(state.waits.size)
        for (const { attempts } of state.steps.values())
          expect(attempts.slice(0, -1).every(({ endedAt }) => endedAt !== undefined)).toBe(true)
        expect(keys.filter((key) => criticalPathOf(state, secondOf(100)).has(key)).length).toBe(
          criticalPathOf(state, secondOf(100)).size,
        )
      }),
    )
  })

  it("is the same whether entries come one by one, in pages, or repeated", () => {
    fc.assert(
      fc.property(journal, fc.nat(60), fc.nat(60), (entries, cut, back) => {
        const fold = openFold()
        for (const entry of entries.slice(0, cut)) fold.push(entry)
        for (const entry of entries.slice(Math.max(0, cut - back))) fold.push(entry)
        expect(fold.state()).toEqual(foldRun(entries))
      }),
    )
  })

  it("of nothing is a run without a plan", () => {
    expect(foldRun([])).toEqual(emptyRunState)
  })

  it("gives a step that failed and may be tried again back its place", () => {
    const state = foldRun(
      entriesOf([
        { type: "Planned", plan },
        { type: "StepStarted", key: "a:m1", attempt: 1 },
        { type: "StepDispatched", key: "a:m1", attempt: 1, token: "t" },
        { type: "StepFailed", key: "a:m1", failure, final: false },
      ]),
    )
    expect(state.steps.get("a:m1")).toMatchObject({ phase: "planned", attempt: 1, token: undefined, failure })
  })

  it("keeps a step in progress over a crash, but starts one again that waited and so had done nothing", () => {
    const state = foldRun(
      entriesOf([
        { type: "Planned", plan },
        { type: "StepStarted", key: "a:m1", attempt: 1 },
        { type: "StepStarted", key: "b:m1", attempt: 1 },
        { type: "StepDispatched", key: "b:m1", attempt: 1, token: "t" },
        { type: "StepStarted", key: "c:m2", attempt: 1 },
        { type: "Waiting", key: "b:m1", reason: "away" },
        { type: "Waiting", key: "c:m2", reason: "away" },
        { type: "Resumed", generation: 2 },
      ]),
    )
    expect([...state.steps.values()].map(({ phase, attempt, interrupted }) => [phase, attempt, interrupted])).toEqual([
      ["started", 1, true],
      ["dispatched", 1, true],
      ["planned", 1, true],
    ])
    expect(state.waits.size).toBe(0)
  })

  it("gives the later steps of a machine its new VMID and MAC addresses, and leaves other machines alone", () => {
    const settings = {
      cpus: 1,
      memoryMiB: 512,
      balloonMiB: undefined,
      nics: [{ index: 0, model: "virtio", mac: macOf(200, 0), bridge: "b", tag: undefined, firewall: false }],
      description: "",
      tags: [],
      tablet: false,
    }
    const input = { legs: [{ mac: macOf(200, 1) }], other: "x" }
    const state = foldRun(
      entriesOf([
        {
          type: "Planned",
          plan: planOf([
            stepOf("configure:m1", [], 1, { kind: "configure", machine: refTo("m1", 200), settings }),
            stepOf("stage:m1", [], 1, { kind: "guest", machine: refTo("m1", 200), os: "linux", stage: "router", input }),
            stepOf("start:m2", [], 1, { kind: "start", machine: refTo("m2", 300), untilAgent: false }),
          ]),
        },
        { type: "Reallocated", machine: "m1", from: 200 as Vmid, to: 4711 as Vmid },
      ]),
    )
    const actions = [...state.steps.values()].map(({ step }) => step.action)
    expect(actions).toMatchObject([
      { machine: { vmid: 4711 }, settings: { nics: [{ mac: macOf(4711, 0) }] } },
      { machine: { vmid: 4711 }, input: { legs: [{ mac: macOf(4711, 1) }], other: "x" } },
      { machine: { vmid: 300 } },
    ])
    expect(state.reallocated.get("m1")).toBe(4711)
  })
})

describe("the progress of a run", () => {
  const begun: readonly RunEvent[] = [
    { type: "Planned", plan },
    { type: "StepStarted", key: "a:m1", attempt: 1 },
    { type: "StepStarted", key: "c:m2", attempt: 1 },
  ]

  it("counts down the longest remaining path", () => {
    const state = foldRun(entriesOf(begun))
    expect(progressOf(state, secondOf(3))).toMatchObject({ total: 3, done: 0, running: 2, remainingSeconds: 40 })
    expect(progressOf(state, secondOf(13))).toMatchObject({ remainingSeconds: 30 })
  })

  it("adapts to the actual duration of settled steps", () => {
    const settledLate: readonly RunEvent[] = [...begun, { type: "Waiting", reason: "r" }, { type: "Continued", reason: "r" }]
    const entries = [
      ...entriesOf(settledLate),
      { seq: 6, at: secondOf(22), event: { type: "StepSettled" as const, key: "a:m1", facts: {} } },
    ]
    // a:m1 took 20 s in place of 10: b:m1 will take 20 too, and c:m2 80 of which 19 have passed
    const state = foldRun(entries)
    expect(progressOf(state, secondOf(22)).remainingSeconds).toBe(61)
    expect([...state.steps.values()].map(expectedSecondsIn(state))).toEqual([20, 20, 80])
  })

  it("takes waiting for a scarce resource into account", () => {
    const uses = [{ resource: "clone@local", slots: 2 }]
    const many = planOf(Array.from({ length: 10 }, (_, i) => ({ ...stepOf(`s:m${i}`, []), uses })))
    expect(progressOf(foldRun(entriesOf([{ type: "Planned", plan: many }])), secondOf(1)).remainingSeconds).toBe(50)
  })

  it("is unknown before the plan and nothing after the end", () => {
    expect(progressOf(foldRun([]), secondOf(1))).toMatchObject({ percent: 0, remainingSeconds: undefined })
    const ended = (status: "aborted" | "success") => foldRun(entriesOf([...begun, { type: "Ended", status, message: "" }]))
    expect(progressOf(ended("success"), secondOf(9))).toMatchObject({ percent: 100, remainingSeconds: 0 })
    expect(progressOf(ended("aborted"), secondOf(9))).toMatchObject({ percent: 0, remainingSeconds: 0 })
  })

  it("of an aborted run counts what was done, not what was skipped", () => {
    const skipped = keys.slice(1).map((key) => ({ type: "StepSkipped", key, because: "the run was aborted" }) as const)
    const done = [{ type: "StepSettled", key: keys[0]!, facts: { changed: true } } as RunEvent, ...skipped]
    const state = foldRun(entriesOf([...begun, ...done, { type: "Ended", status: "aborted", message: "" }]))
    expect(progressOf(state, secondOf(9))).toMatchObject({
      total: keys.length,
      done: 1,
      skipped: keys.length - 1,
      percent: Math.floor(100 / keys.length),
    })
  })
})

describe("the end of a run", () => {
  const events: readonly RunEvent[] = [
    { type: "Planned", plan },
    { type: "StepFailed", key: "a:m1", failure, final: true },
    { type: "StepSkipped", key: "b:m1", because: "a" },
    { type: "StepSettled", key: "c:m2", facts: {} },
  ]

  it("names each failed step with its reason and how many were not run", () => {
    expect(concludeRun(foldRun(entriesOf(events)))).toEqual({
      status: "failure",
      message: "1 of 3 steps failed: Do a:m1: Cannot clone: disk full; 1 step was not run",
    })
  })

  it("is aborted when a cancel was asked for, whatever the steps came to", () => {
    const cancelled = foldRun(entriesOf([...events, { type: "CancelRequested", by: "JD" as never }]))
    expect(concludeRun(cancelled).status).toBe("aborted")
  })

  it("is partial when only what may fail failed, and some of it was done", () => {
    const ends = (tolerated: readonly string[], outcomes: Readonly<Record<string, boolean>>) => {
      const steps = Object.keys(outcomes).map((key) => ({ ...stepOf(key, []), tolerated: tolerated.includes(key) }))
      const settled = Object.entries(outcomes).map(([key, ok]): RunEvent =>
        ok ? { type: "StepSettled", key, facts: {} } : { type: "StepFailed", key, failure, final: true },
      )
      return concludeRun(foldRun(entriesOf([{ type: "Planned", plan: planOf(steps) }, ...settled]))).status
    }
    expect(ends(["a", "b"], { a: true, b: false, c: true })).toBe("partial")
    expect(ends(["a", "b"], { a: true, b: true, c: true })).toBe("success")
    expect(ends(["a", "b"], { a: true, b: false, c: false })).toBe("failure")
    // what may not fail was done, but nothing of what was asked for
    expect(ends(["a", "b"], { a: false, b: false, c: true })).toBe("failure")
  })

  it("decides what the range shows", () => {
    expect(["success", "failure", "aborted"].map((status) => rangeStateAfter("deploy", status as "success"))).toEqual([
      "SUCCESS",
      "ERROR",
      "ABORTED",
    ])
    expect(rangeStateAfter("destroy", "success")).toBe("DESTROYED")
    expect([rangeStateDuring("power"), rangeStateAfter("power", "failure")]).toEqual([undefined, undefined])
    expect([rangeStateDuring("source-fetch"), rangeStateAfter("source-fetch", "failure")]).toEqual([undefined, undefined])
  })
})

describe("steps whose waits overlap", () => {
  const waiting = (of: string, reason = `${of} waits`): RunEvent => ({ type: "Waiting", reason, key: of })
  const continued = (of: string): RunEvent => ({ type: "Continued", reason: "back", key: of })
  const after = (...events: readonly RunEvent[]) => foldRun(entriesOf([{ type: "Planned", plan }, ...events]))

  it("keep the run waiting until the last of them continues, and the oldest says for what", () => {
    const overlap = [waiting("a:m1"), waiting("c:m2")]
    expect(waitingFor(after(...overlap))).toBe("a:m1 waits")
    expect(waitingFor(after(...overlap, continued("a:m1")))).toBe("c:m2 waits")
    expect(waitingFor(after(...overlap, continued("c:m2"), continued("a:m1")))).toBeUndefined()
  })

  it("wait no more when they are over, when another worker takes the run over, and when the run has ended", () => {
    const failed: RunEvent = { type: "StepFailed", key: "a:m1", failure, final: true }
    expect(waitingFor(after(waiting("a:m1"), failed))).toBeUndefined()
    expect(waitingFor(after(waiting("a:m1"), { ...failed, final: false }))).toBe("a:m1 waits")
    expect(waitingFor(after(waiting("a:m1"), { type: "Resumed", generation: 2 }))).toBeUndefined()
    expect(waitingFor(after(waiting("a:m1"), { type: "Ended", status: "aborted", message: "" }))).toBeUndefined()
  })

  it("were one wait of the run in older journals", () => {
    const [begin, end]: readonly RunEvent[] = [
      { type: "Waiting", reason: "away" },
      { type: "Continued", reason: "back" },
    ]
    expect(waitingFor(after(begin!))).toBe("away")
    expect(waitingFor(after(begin!, end!))).toBeUndefined()
  })
})

describe("a point of no return", () => {
  const forward = planOf([stepOf("a:m1", []), { ...stepOf("b:m1", ["a:m1"]), pointOfNoReturn: true }, stepOf("c:m2", [], 40)])
  const cancel: RunEvent = { type: "CancelRequested", by: "JD" as never }
  const started = (of: string): RunEvent => ({ type: "StepStarted", key: of, attempt: 1 })
  const after = (...events: readonly RunEvent[]) => foldRun(entriesOf([{ type: "Planned", plan: forward }, ...events]))

  it("that has started makes a later cancel ineffective", () => {
    const state = after(started("a:m1"), started("b:m1"), cancel, started("c:m2"))
    expect(state).toMatchObject({ irreversible: true, cancelRequested: false, cancelRequestedAt: undefined })
    expect(isCancellable(state)).toBe(false)
    expect(state.steps.get("c:m2")?.phase).toBe("started")
  })

  it("is not reached when a cancel came first: its step has not begun", () => {
    const state = after(started("a:m1"), cancel, started("b:m1"))
    expect(state).toMatchObject({ irreversible: false, cancelRequested: true })
    expect(state.steps.get("b:m1")).toMatchObject({ phase: "planned", attempt: 0 })
  })

  it("does not keep a run that waits from being cancelled", () => {
    const state = after(started("b:m1"), { type: "Waiting", reason: "node1 is unreachable" }, cancel)
    expect(state).toMatchObject({ irreversible: true, cancelRequested: true })
  })

  it("does not keep a run from being cancelled of which one step still waits", () => {
    const [m1, m2] = ["b:m1", "c:m2"].map((of): RunEvent => ({ type: "Waiting", reason: "node1 is unreachable", key: of }))
    const state = after(started("b:m1"), m1!, m2!, { type: "Continued", reason: "back", key: "b:m1" })
    expect(isCancellable(state)).toBe(true)
  })

  it("and a cancel never both hold in a run that does not wait", () => {
    const events = anyEvent.filter(({ type }) => type !== "Waiting" && type !== "Planned")
    fc.assert(
      fc.property(fc.array(events, { maxLength: 40 }), (some) => {
        const state = after(...some)
        expect(state.cancelRequested && state.irreversible).toBe(false)
        // whichever of them came, one of them holds
        if (some.some(({ type }) => type === "CancelRequested")) expect(state.cancelRequested || state.irreversible).toBe(true)
      }),
    )
  })
})

describe("what a run tells of its past", () => {
  const started = (of: string, attempt = 1): RunEvent => ({ type: "StepStarted", key: of, attempt })
  const settled = (of: string): RunEvent => ({ type: "StepSettled", key: of, facts: {} })
  const after = (...events: readonly RunEvent[]) => foldRun(entriesOf([{ type: "Planned", plan }, ...events]))

  it("keeps attempts apart, each with its time and why it failed", () => {
    const { steps } = after(
      started("a:m1"),
      { type: "StepFailed", key: "a:m1", failure, final: false },
      started("a:m1", 2),
      // the service ended here
      { type: "Resumed", generation: 2 },
      started("a:m1", 3),
      settled("a:m1"),
    )
    expect(steps.get("a:m1")?.attempts).toEqual([
      { startedAt: secondOf(2), endedAt: secondOf(3), failure },
      { startedAt: secondOf(4), endedAt: secondOf(6), failure: undefined },
      { startedAt: secondOf(6), endedAt: secondOf(7), failure: undefined },
    ])
  })

  it("keeps each wait with its reason, its begin and its end", () => {
    const { waited } = after(
      { type: "Waiting", reason: "behind a migration", behind: "r1" as never },
      { type: "Continued", reason: "it ended" },
      { type: "Waiting", reason: "away", key: "a:m1" },
      { type: "Waiting", reason: "away for long", key: "a:m1" },
      settled("a:m1"),
      { type: "Waiting", reason: "away", key: "c:m2" },
    )
    expect(waited.map(({ key, reason, blockedBy, from, to }) => [key, reason, blockedBy, from, to])).toEqual([
      [undefined, "behind a migration", "r1", secondOf(2), secondOf(3)],
      ["a:m1", "away", undefined, secondOf(4), secondOf(5)],
      ["a:m1", "away for long", undefined, secondOf(5), secondOf(6)],
      ["c:m2", "away", undefined, secondOf(7), undefined],
    ])
  })

  it("names the steps that decide when it ends, by estimates first and then by what was measured", () => {
    const path = (state: ReturnType<typeof after>, second: number) => [...criticalPathOf(state, secondOf(second))]
    expect(path(after(), 1)).toEqual(["c:m2"])
    expect(path(after(started("c:m2"), settled("c:m2")), 4)).toEqual(["b:m1", "a:m1"])
    const done = after(started("a:m1"), started("c:m2"), settled("c:m2"), settled("a:m1"), started("b:m1"), settled("b:m1"))
    expect(path(done, 60)).toEqual(["b:m1", "a:m1"])
    const skipped = after(
      started("a:m1"),
      { type: "StepFailed", key: "a:m1", failure, final: true },
      { type: "StepSkipped", key: "b:m1", because: "a:m1 failed" },
      { type: "StepSkipped", key: "c:m2", because: "aborted" },
    )
    expect(path(skipped, 60)).toEqual(["a:m1"])
    expect(path(foldRun([]), 60)).toEqual([])
  })
})
