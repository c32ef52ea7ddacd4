import type { Run, Step } from "@rangewright/application/wire"
import { dateOf } from "../parts/format.ts"

export interface Bar {
  readonly step: Step
  /** In seconds since the begin of the run. */
  readonly from: number
  readonly to: number
  /** Bars of a lane that overlap stand in rows of their own. */
  readonly row: number
}

export interface Lane {
  readonly name: string | undefined
  readonly bars: readonly Bar[]
  readonly rows: number
}

export interface Timeline {
  readonly seconds: number
  readonly lanes: readonly Lane[]
}

const seconds = (text: string | undefined, begin: number): number | undefined => {
  const at = dateOf(text)
  return at === undefined ? undefined : (at.getTime() - begin) / 1000
}

/** What each machine did when. Steps that have not begun have no bar. */
export const timelineOf = (run: Run, now: number): Timeline => {
  const begin = dateOf(run.startedAt)?.getTime() ?? now
  const end = seconds(run.endedAt, begin) ?? (now - begin) / 1000
  const lanes = new Map<string | undefined, { readonly bars: Bar[]; readonly ends: number[] }>()
  const begun = run.steps.flatMap((step) => {
    const from = seconds(step.startedAt, begin)
    return from === undefined ? [] : [{ step, from, to: Math.max(from, seconds(step.endedAt, begin) ?? end) }]
  })
  for (const { step, from, to } of begun.toSorted((a, b) => a.from - b.from)) {
    const lane = lanes.get(step.machine) ?? { bars: [], ends: [] }
    lanes.set(step.machine, lane)
    const free = lane.ends.findIndex((ended) => ended <= from + 0.001)
    const row = free < 0 ? lane.ends.length : free
    lane.ends[row] = to
    lane.bars.push({ step, from, to, row })
  }
  return {
    seconds: Math.max(1, end, ...begun.map(({ to }) => to)),
    lanes: [...lanes].map(([name, { bars, ends }]) => ({ name, bars, rows: ends.length })),
  }
}

/** Round times for the scale: at most eight of them. */
export const ticks = (whole: number): readonly number[] => {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400].find((s) => whole / s <= 7) ?? 86_400
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, at) => at * step)
}
