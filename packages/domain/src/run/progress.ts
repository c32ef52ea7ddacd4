import { inOrder, predecessors } from "../plan/graph.ts"
import type { Step } from "../plan/plan.ts"
import type { RunState, StepPhase, StepState } from "./state.ts"

export interface RunProgress {
  readonly total: number
  /** Settled or failed. */
  readonly done: number
  readonly running: number
  readonly failed: number
  readonly skipped: number
  /** 0 to 100, by estimated work; for a run that has ended: the share of its steps that succeeded, and 100 only for success. */
  readonly percent: number
  /** Seconds until the end, as far as can be told; 0 when the run is over, undefined before there is a plan. */
  readonly remainingSeconds: number | undefined
  /** At least half of that comes from earlier runs of this installation, and not from the timing model. */
  readonly fromEarlierRuns: boolean
  /** What is in progress takes longer than expected, so that little is known of the remaining time. */
  readonly late: boolean
}

const doneIn: Readonly<Record<StepPhase, boolean>> = {
  planned: false,
  started: false,
  dispatched: false,
  settled: true,
  failed: true,
  skipped: true,
}

export const isDone = (state: StepState): boolean => doneIn[state.phase]
export const isRunning = (state: StepState): boolean => state.phase === "started" || state.phase === "dispatched"
const secondsBetween = (from: Date, to: Date): number => Math.max(0, (to.getTime() - from.getTime()) / 1000)

/** Gives the factor by which this run is slower than the estimate of a step says, limited to ten times either way. */
type Pace = (step: Step) => number

/** The share of what was learned of a run's steps that must have been done before it says more about the rest than earlier runs do. */
const leastEvidence = 0.1

/** Actual time of the settled steps over their estimates. Learned ones are another matter than guesses, and need more evidence. */
const paceOf = (states: readonly StepState[]): Pace => {
  const among = (learned: boolean): number => {
    const some = states.filter(({ step }) => (step.learned === true) === learned)
    let estimated = 0
    let measured = 0
    for (const { phase, step, startedAt, endedAt } of some) {
      if (phase !== "settled" || startedAt === undefined || endedAt === undefined) continue
      estimated += step.estimate
      measured += secondsBetween(startedAt, endedAt)
    }
    if (estimated === 0) return 1
    const prior = learned ? some.reduce((total, { step }) => total + step.estimate, 0) * leastEvidence : 0
    return Math.min(10, Math.max(0.1, (measured + prior) / (estimated + prior)))
  }
  const [guessed, learned] = [among(false), among(true)]
  return (step) => (step.learned === true ? learned : guessed)
}

/** Gives the seconds that a step of this run takes: its estimate, corrected by how long the steps took that have ended. */
export const expectedSecondsIn = (state: Pick<RunState, "steps">): ((own: Pick<StepState, "step">) => number) => {
  const pace = paceOf([...state.steps.values()])
  return ({ step }) => step.estimate * pace(step)
}

/** What is left of one step, or of several in a row, in seconds. */
interface Rest {
  /** At least something, as long as it is not over. */
  readonly told: number
  /** The part of `told` that is estimated: none of a step that is late. */
  readonly estimated: number
  /** The part of `told` that comes from earlier runs. */
  readonly learned: number
}

const nothingLeft: Rest = { told: 0, estimated: 0, learned: 0 }
const sum = (a: Rest, b: Rest, share = 1): Rest => ({
  told: a.told + b.told * share,
  estimated: a.estimated + b.estimated * share,
  learned: a.learned + b.learned * share,
})
const longer = (a: Rest, b: Rest): Rest => (b.told > a.told ? b : a)

/** The share of its estimate that a step in progress is told to have left, however long it has been running. */
const leastShare = 0.1
/** A step is late when it takes longer than expected by this share and this many seconds: no two runs take the same time. */
const graceShare = 0.25
const graceSeconds = 5

/** What is left of a step at `now`. */
const restOf = (own: StepState, pace: Pace, now: Date): Rest => {
  if (isDone(own)) return nothingLeft
  const { step, attempts, progress } = own
  const whole = step.estimate * pace(step)
  const begun = isRunning(own) ? attempts.at(-1)?.startedAt : undefined
  const share = progress?.total === undefined ? Number.NaN : progress.done / progress.total
  // reported progress is more accurate than the estimate
  const reported = Number.isFinite(share) ? whole * (1 - Math.min(1, Math.max(0, share))) : undefined
  const spent = begun === undefined ? 0 : secondsBetween(begun, now)
  const told = reported ?? Math.max(whole - spent, whole * leastShare)
  const grace = whole * graceShare + graceSeconds
  const estimated = reported ?? Math.min(told, Math.max(0, whole + grace - spent))
  return { told, estimated, learned: step.learned === true ? told : 0 }
}

/**
 * What is left until the last step ends: the longest remaining path, or the remaining work on the scarcest resource, whichever is longer.
 * `left`: what is left of one step.
 */
const longestRemainder = (state: RunState, left: (step: StepState) => Rest): Rest => {
  const ends = new Map<string, Rest>()
  const work = new Map<string, Rest>()
  let longest = nothingLeft
  for (const step of inOrder(state.plan?.steps ?? [])) {
    const own = state.steps.get(step.key)
    const rest = own === undefined ? nothingLeft : left(own)
    const before = predecessors(step).reduce((latest, key) => longer(latest, ends.get(key) ?? nothingLeft), nothingLeft)
    const end = sum(before, rest)
    ends.set(step.key, end)
    longest = longer(longest, end)
    for (const { resource, slots } of step.uses) {
      const total = sum(work.get(resource) ?? nothingLeft, rest, 1 / slots)
      work.set(resource, total)
      longest = longer(longest, total)
    }
  }
  return longest
}

/** The final percentage: an unsuccessful run stays at the share of its steps that succeeded. */
const percentOfEnded = (status: RunState["status"], states: readonly StepState[]): number => {
  if (status === "success") return 100
  if (states.length === 0) return 0
  const settled = states.filter(({ phase }) => phase === "settled").length
  return Math.min(99, Math.floor((100 * settled) / states.length))
}

/** The progress of a run at `now`, and its remaining time by the estimates and the times measured so far. */
export const progressOf = (state: RunState, now: Date): RunProgress => {
  const states = [...state.steps.values()]
  const total = states.length
  const skipped = states.filter(({ phase }) => phase === "skipped").length
  const done = states.filter(isDone).length - skipped
  const pace = paceOf(states)
  const left = (own: StepState): Rest => restOf(own, pace, now)
  const work = (step: Step): number => Math.max(step.estimate, 0.001)
  const shareLeft = (own: StepState): number => {
    if (isDone(own)) return 0
    return Math.min(1, left(own).told / (work(own.step) * pace(own.step)))
  }
  const all = states.reduce((sum, own) => sum + work(own.step), 0)
  const rest = states.reduce((sum, own) => sum + shareLeft(own) * work(own.step), 0)
  const over = state.status !== "running"
  const remainder = over ? nothingLeft : longestRemainder(state, left)
  const percent = all === 0 || done + skipped === total ? 100 : Math.min(99, Math.floor((100 * (all - rest)) / all))
  return {
    total,
    done,
    running: states.filter(isRunning).length,
    failed: states.filter(({ phase }) => phase === "failed").length,
    skipped,
    percent: over ? percentOfEnded(state.status, states) : state.plan === undefined ? 0 : percent,
    remainingSeconds: over ? 0 : state.plan === undefined ? undefined : Math.ceil(remainder.told),
    fromEarlierRuns: remainder.learned > 0 && 2 * remainder.learned >= remainder.told,
    late: 2 * remainder.estimated < remainder.told,
  }
}
