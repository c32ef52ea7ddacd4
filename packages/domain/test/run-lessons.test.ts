import { describe, expect, it } from "vitest"
import {
  foldRun,
  type LearnedDuration,
  learnedFrom,
  lessonsOf,
  progressOf,
  remainingText,
  type RunEvent,
  type Step,
} from "../src/index.ts"
import { planOf, secondOf, stepOf } from "./run-journals.ts"

type At = readonly [second: number, event: RunEvent]

const timed = (key: string, timedAs: string, more: Partial<Step> = {}): Step => ({ ...stepOf(key, [], 10), timedAs, ...more })
const entries = (events: readonly At[]) => events.map(([second, event], i) => ({ seq: i + 1, at: secondOf(second), event }))
const state = (steps: readonly Step[], ...events: readonly At[]) =>
  foldRun(entries([[0, { type: "Planned", plan: planOf(steps) }], ...events]))

const started = (key: string, attempt = 1): RunEvent => ({ type: "StepStarted", key, attempt })
const settled = (key: string): RunEvent => ({ type: "StepSettled", key, facts: {} })
const failed = (key: string, final: boolean): RunEvent => ({
  type: "StepFailed",
  key,
  failure: { tag: "GuestFault", kind: "unavailable", message: "m" },
  final,
})

describe("what a run teaches", () => {
  const role = timed("role:m1", "role shop")

  it("is how long work took from its start, and on average when there were several", () => {
    const other = timed("role:m2", "role shop")
    const silent = stepOf("pool:m3", [])
    const run = state(
      [role, other, silent],
      [5, started("role:m1")],
      [5, started("pool:m3")],
      [6, settled("pool:m3")],
      [25, settled("role:m1")],
      [30, started("role:m2")],
      [70, settled("role:m2")],
    )
    expect(lessonsOf(run)).toEqual(new Map([["role shop", 30]]))
  })

  it("is there when other steps failed or the run was aborted", () => {
    const run = state(
      [role, timed("a:m2", "a")],
      [1, started("role:m1")],
      [1, started("a:m2")],
      [3, failed("a:m2", true)],
      [4, { type: "CancelRequested", by: "JD" as never }],
      [9, settled("role:m1")],
    )
    expect(lessonsOf(run)).toEqual(new Map([["role shop", 8]]))
  })

  const nothing: readonly (readonly [string, readonly At[]])[] = [
    ["did not end", [[1, started("role:m1")]]],
    [
      "failed",
      [
        [1, started("role:m1")],
        [5, failed("role:m1", true)],
      ],
    ],
    [
      "was repeated",
      [
        [1, started("role:m1")],
        [5, failed("role:m1", false)],
        [6, started("role:m1", 2)],
        [7, settled("role:m1")],
      ],
    ],
    [
      "was interrupted by a crash",
      [
        [1, started("role:m1")],
        [9, { type: "Resumed", generation: 2 }],
        [11, settled("role:m1")],
      ],
    ],
    [
      "waited for the hypervisor",
      [
        [1, started("role:m1")],
        [2, { type: "Waiting", reason: "away", key: "role:m1" }],
        [900, { type: "Continued", reason: "back", key: "role:m1" }],
        [905, settled("role:m1")],
      ],
    ],
    [
      "ended before it began, because a clock was set back",
      [
        [50, started("role:m1")],
        [20, settled("role:m1")],
      ],
    ],
    [
      "took days, because a clock was set forward",
      [
        [1, started("role:m1")],
        [3 * 86_400, settled("role:m1")],
      ],
    ],
    ["was skipped", [[1, { type: "StepSkipped", key: "role:m1", because: "b" }]]],
  ]
  it.each(nothing)("is nothing about work that %s", (_, events) => {
    expect(lessonsOf(state([role], ...events))).toEqual(new Map())
  })

  it("is what a step that began after the crash took", () => {
    const run = state([role], [5, { type: "Resumed", generation: 2 }], [6, started("role:m1")], [16, settled("role:m1")])
    expect(lessonsOf(run)).toEqual(new Map([["role shop", 10]]))
  })
})

describe("a learned duration", () => {
  const after = (...seconds: readonly number[]): LearnedDuration | undefined =>
    seconds.reduce<LearnedDuration | undefined>(learnedFrom, undefined)

  it("is the average of the first runs", () => {
    expect(after(100)).toEqual({ seconds: 100, count: 1 })
    expect(after(100, 200, 300, 400)).toEqual({ seconds: 250, count: 4 })
  })

  it("follows a lasting change, and one odd run moves it by no more than a quarter of the difference", () => {
    const usual = after(...Array.from({ length: 50 }, () => 60))!
    expect(learnedFrom(usual, 1060).seconds).toBe(310)
    const slower = Array.from({ length: 12 }, () => 600).reduce<LearnedDuration>(learnedFrom, usual)
    expect(slower.seconds).toBeGreaterThan(580)
  })

  it("is never nothing", () => {
    expect(after(0, 0)).toEqual({ seconds: 0.1, count: 2 })
  })
})

describe("the remaining time", () => {
  const long = timed("a:m1", "role shop", { estimate: 720, learned: true })
  const told = (second: number, ...[steps, ...events]: readonly [readonly Step[], ...(readonly At[])]) => {
    const run = state(steps, ...events)
    const progress = progressOf(run, secondOf(second))
    return { seconds: progress.remainingSeconds, text: remainingText(progress, run) }
  }

  it("says what it is based on", () => {
    const { learned: _, ...guess } = long
    expect(told(0, [long])).toEqual({ seconds: 720, text: "about 12 min left, from earlier runs" })
    expect(told(0, [guess])).toEqual({ seconds: 720, text: "about 12 min left, a first guess" })
    const after = (step: Step) => ({ ...step, after: ["a:m1"] })
    expect(told(0, [long, after(timed("b:m1", "b", { estimate: 600 }))]).text).toBe("about 22 min left, from earlier runs")
    expect(told(0, [long, after(timed("b:m1", "b", { estimate: 900 }))]).text).toBe("about 27 min left, a first guess")
  })

  it("is as coarse as an estimate is", () => {
    const texts = [30, 61, 100, 3500, 3660, 5000, 7150, 86_000].map(
      (estimate) => told(0, [{ ...long, estimate }]).text?.split(",")[0],
    )
    expect(texts).toEqual([
      "less than a minute left",
      "about 1 min left",
      "about 2 min left",
      "about 58 min left",
      "about 1 h left",
      "about 1 h 25 min left",
      "about 2 h left",
      "about 23 h 55 min left",
    ])
  })

  it("counts down, and then says that it takes longer than usual, never nothing", () => {
    expect(told(361, [long], [1, started("a:m1")]).seconds).toBe(360)
    expect(told(601, [long], [1, started("a:m1")]).text).toBe("about 2 min left, from earlier runs")
    expect(told(801, [long], [1, started("a:m1")])).toEqual({ seconds: 72, text: "about 1 min left, from earlier runs" })
    expect(told(2000, [long], [1, started("a:m1")])).toEqual({ seconds: 72, text: "longer than usual" })
    const guess = timed("a:m1", "role shop", { estimate: 720 })
    expect(told(2000, [guess], [1, started("a:m1")])).toEqual({ seconds: 72, text: "longer than first guessed" })
  })

  it("with much left after a late step says how much", () => {
    const rest = timed("b:m1", "b", { estimate: 1800, learned: true, after: ["a:m1"] })
    expect(told(2000, [long, rest], [1, started("a:m1")]).text).toBe("about 31 min left, from earlier runs")
  })

  it("of a repeated step counts from its last start", () => {
    const again: readonly At[] = [
      [1, started("a:m1")],
      [500, failed("a:m1", false)],
      [510, started("a:m1", 2)],
    ]
    expect(told(520, [long], ...again).seconds).toBe(710)
  })

  it("corrects guesses by the pace of guesses in this run, but not what was learned", () => {
    const quick = timed("q:m9", "q", { estimate: 100 })
    const { learned: _, ...guess } = long
    const events: readonly At[] = [
      [0, started("q:m9")],
      [200, settled("q:m9")],
    ]
    expect(told(200, [quick, guess], ...events).seconds).toBe(1440)
    expect(told(200, [quick, long], ...events).seconds).toBe(720)
  })

  it("is longer where what was learned takes longer today, the more of it has been done", () => {
    const step = (key: string, estimate: number) => timed(key, "s", { estimate, learned: true })
    const events: readonly At[] = [
      [0, started("q:m9")],
      [30, settled("q:m9")],
    ]
    expect(told(30, [step("q:m9", 10), step("a:m1", 990)], ...events).seconds).toBe(1170)
    expect(told(30, [step("q:m9", 10), step("a:m1", 90)], ...events).seconds).toBe(180)
  })

  it("is not told of a run that waits, is being stopped, or has ended", () => {
    expect(told(1, [long], [1, { type: "Waiting", reason: "away", key: "a:m1" }]).text).toBeUndefined()
    expect(told(1, [long], [1, { type: "CancelRequested", by: "JD" as never }]).text).toBeUndefined()
    expect(told(1, [long], [1, { type: "Ended", status: "success", message: "" }]).text).toBeUndefined()
    const none = foldRun([])
    expect(remainingText(progressOf(none, secondOf(1)), none)).toBeUndefined()
  })
})
