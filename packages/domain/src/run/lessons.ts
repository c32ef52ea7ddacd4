import type { RunState, StepState } from "./state.ts"

/** How long one kind of work takes, from `count` runs; the last few count most. */
export interface LearnedDuration {
  readonly seconds: number
  readonly count: number
}

/** Durations from this on teach nothing: something was wrong with a clock or with the work. */
const longestSeconds = 48 * 3600

/** Each run counts for at least this share of the value, so that it follows changes. */
const leastWeight = 1 / 4

/** The value with one more run, in tenths of a second. */
export const learnedFrom = (before: LearnedDuration | undefined, seconds: number): LearnedDuration => {
  const count = (before?.count ?? 0) + 1
  const value = before === undefined ? seconds : before.seconds + (seconds - before.seconds) * Math.max(leastWeight, 1 / count)
  return { seconds: Math.max(0.1, Math.round(value * 10) / 10), count }
}

/** The time from the start of its only attempt to its success; undefined unless it was all work. */
const workSeconds = ({ phase, attempts, interrupted }: StepState): number | undefined => {
  const [only, ...more] = attempts
  if (phase !== "settled" || interrupted || only?.endedAt === undefined || more.length > 0) return undefined
  const seconds = (only.endedAt.getTime() - only.startedAt.getTime()) / 1000
  return seconds >= 0 && seconds < longestSeconds ? seconds : undefined
}

/**
 * What a run teaches: how long work took, by the name under which that is remembered (`Step.timedAs`), on average if it was done several
 * times. A step that failed, was repeated, was interrupted by a crash, or waited for the hypervisor teaches nothing. Waiting for a free
 * slot does not count: an attempt starts with it.
 */
export const lessonsOf = ({ steps, waited }: Pick<RunState, "steps" | "waited">): ReadonlyMap<string, number> => {
  const delayed = new Set(waited.map(({ key }) => key))
  const sums = new Map<string, { readonly seconds: number; readonly count: number }>()
  for (const [key, state] of steps) {
    const { timedAs } = state.step
    const seconds = timedAs === undefined || delayed.has(key) ? undefined : workSeconds(state)
    if (timedAs === undefined || seconds === undefined) continue
    const before = sums.get(timedAs) ?? { seconds: 0, count: 0 }
    sums.set(timedAs, { seconds: before.seconds + seconds, count: before.count + 1 })
  }
  return new Map([...sums].map(([name, { seconds, count }]) => [name, seconds / count]))
}
