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
  /** Seconds until the end; 0 when the run is over, undefined before there is a plan. */
  readonly remainingSeconds: number | undefined
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
const isRunning = (state: StepState): boolean => state.phase === "started" || state.phase === "dispatched"
const secondsBetween = (from: Date, to: Date): number => Math.max(0, (to.getTime() - from.getTime()) / 1000)

/** Actual time of the settled steps over their estimates; 1 while nothing is known, limited to a factor of 10. */
const pace = (states: Iterable<StepState>): number => {
  let estimated = 0
  let measured = 0
  for (const { phase, step, startedAt, endedAt } of states) {
    if (phase !== "settled" || startedAt === undefined || endedAt === undefined) continue
    estimated += step.estimate
    measured += secondsBetween(startedAt, endedAt)
  }
  return estimated === 0 ? 1 : Math.min(10, Math.max(0.1, measured / estimated))
}

/**
 * Seconds until the last step ends: the longest remaining path, or the remaining work on the scarcest resource, whichever is longer. `left`
 * gives the seconds of one step.
 */
const longestRemainder = (state: RunState, left: (step: StepState) => number): number => {
  const ends = new Map<string, number>()
  const work = new Map<string, number>()
  let longest = 0
  for (const step of inOrder(state.plan?.steps ?? [])) {
    const own = state.steps.get(step.key)
    const rest = own === undefined ? 0 : left(own)
    const end = predecessors(step).reduce((latest, key) => Math.max(latest, ends.get(key) ?? 0), 0) + rest
    ends.set(step.key, end)
    longest = Math.max(longest, end)
    for (const { resource, slots } of step.uses) {
      const total = (work.get(resource) ?? 0) + rest / slots
      work.set(resource, total)
      longest = Math.max(longest, total)
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
  const factor = pace(states)
  const left = (own: StepState): number => {
    if (isDone(own)) return 0
    const whole = own.step.estimate * factor
    const { done: part = 0, total } = own.progress ?? {}
    const share = total === undefined ? Number.NaN : part / total
    // reported progress is more accurate than the estimate
    if (Number.isFinite(share)) return whole * (1 - Math.min(1, Math.max(0, share)))
    return own.startedAt === undefined ? whole : Math.max(0, whole - secondsBetween(own.startedAt, now))
  }
  const work = (step: Step): number => Math.max(step.estimate, 0.001)
  const all = states.reduce((sum, own) => sum + work(own.step), 0)
  const rest = states.reduce((sum, own) => sum + (isDone(own) ? 0 : Math.min(work(own.step), left(own) / factor)), 0)
  const over = state.status !== "running"
  const percent = all === 0 || done + skipped === total ? 100 : Math.min(99, Math.floor((100 * (all - rest)) / all))
  return {
    total,
    done,
    running: states.filter(isRunning).length,
    failed: states.filter(({ phase }) => phase === "failed").length,
    skipped,
    percent: over ? percentOfEnded(state.status, states) : state.plan === undefined ? 0 : percent,
    remainingSeconds: over ? 0 : state.plan === undefined ? undefined : Math.ceil(longestRemainder(state, left)),
  }
}
