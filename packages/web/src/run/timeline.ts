import type { Run, Step } from "@rangewright/application/wire"
import { dateOf } from "../parts/format.ts"

/** One attempt at a step, or a wait. */
interface Attempt {
  readonly startedAt: string
  readonly endedAt?: string
  readonly failure?: { readonly message: string }
}

interface Wait {
  readonly reason: string
  readonly from: string
  readonly to?: string
}

/** Optional details of a step: each attempt, each wait, and whether it determines when the run ends. */
type ToldStep = Step & { readonly attempts?: readonly Attempt[]; readonly waits?: readonly Wait[]; readonly critical?: true }

export interface Span {
  /** In seconds since the start of the run. */
  readonly from: number
  readonly to: number
}

export interface Bar extends Span {
  readonly step: Step
  readonly attempt: number
  readonly phase: Step["phase"]
  /** Why this attempt failed. */
  readonly failure: string | undefined
  readonly isCritical: boolean
  /** When it is expected to end, while in progress. */
  readonly expected: number | undefined
  /** Overlapping bars of a lane are put into separate rows. */
  readonly row: number
}

/** A time in which nothing was done, and why. */
export interface Pause extends Span {
  readonly reason: string
}

export interface Lane {
  readonly name: string | undefined
  readonly bars: readonly Bar[]
  readonly pauses: readonly Pause[]
  readonly rows: number
}

export interface Timeline {
  readonly seconds: number
  readonly lanes: readonly Lane[]
  /** Times in which the run as a whole waited. */
  readonly pauses: readonly Pause[]
  readonly hasCritical: boolean
}

const seconds = (text: string | undefined, begin: number): number | undefined => {
  const at = dateOf(text)
  return at === undefined ? undefined : (at.getTime() - begin) / 1000
}

const startsOf = (step: ToldStep): readonly Attempt[] =>
  step.attempts ??
  (step.startedAt === undefined
    ? []
    : [{ startedAt: step.startedAt, ...(step.endedAt === undefined ? {} : { endedAt: step.endedAt }) }])

/** What each machine did when. Steps that have not started have no bar. */
export const timelineOf = (run: Run & { readonly waits?: readonly Wait[] }, now: number): Timeline => {
  const begin = dateOf(run.startedAt)?.getTime() ?? now
  const end = seconds(run.endedAt, begin) ?? (now - begin) / 1000
  const pausesOf = (waits: readonly Wait[] = []): readonly Pause[] =>
    waits.flatMap(({ reason, from, to }) => {
      const at = seconds(from, begin)
      return at === undefined ? [] : [{ reason, from: at, to: Math.max(at, seconds(to, begin) ?? end) }]
    })
  const barsOf = (step: ToldStep): readonly Omit<Bar, "row">[] => {
    const starts = startsOf(step)
    return starts.flatMap(({ startedAt, endedAt, failure }, at) => {
      const from = seconds(startedAt, begin)
      if (from === undefined) return []
      const isLast = at === starts.length - 1
      const to = Math.max(from, seconds(endedAt, begin) ?? end)
      const isGoing = isLast && run.status === "running" && endedAt === undefined
      return [
        {
          step,
          from,
          to,
          attempt: step.attempts === undefined ? step.attempt : at + 1,
          phase: isLast ? step.phase : ("failed" as const),
          failure: failure?.message ?? (isLast ? step.failure?.message : undefined),
          isCritical: step.critical === true,
          expected: isGoing ? from + (step.expectedSeconds ?? step.estimateSeconds) : undefined,
        },
      ]
    })
  }
  const lanes = new Map<string | undefined, { readonly bars: Bar[]; readonly pauses: Pause[]; readonly ends: number[] }>()
  const laneOf = (name: string | undefined) => {
    const lane = lanes.get(name) ?? { bars: [], pauses: [], ends: [] }
    lanes.set(name, lane)
    return lane
  }
  const begun = run.steps.flatMap(barsOf).toSorted((a, b) => a.from - b.from)
  for (const bar of begun) {
    const { bars, ends } = laneOf(bar.step.machine)
    const free = ends.findIndex((ended) => ended <= bar.from + 0.001)
    const row = free < 0 ? ends.length : free
    ends[row] = bar.to
    bars.push({ ...bar, row })
  }
  for (const step of run.steps as readonly ToldStep[]) {
    const pauses = pausesOf(step.waits)
    if (pauses.length > 0) laneOf(step.machine).pauses.push(...pauses)
  }
  return {
    seconds: Math.max(1, end, ...begun.map(({ to, expected = 0 }) => Math.max(to, expected))),
    lanes: [...lanes].map(([name, { bars, pauses, ends }]) => ({ name, bars, pauses, rows: Math.max(1, ends.length) })),
    pauses: pausesOf(run.waits),
    hasCritical: begun.some(({ isCritical }) => isCritical),
  }
}

/** Round times for the scale, at most eight. */
export const ticks = (whole: number): readonly number[] => {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400].find((s) => whole / s <= 7) ?? 86_400
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, at) => at * step)
}
