import type { RunProgress } from "./progress.ts"
import type { RunState } from "./state.ts"

/** `12 min`, `1 h 25 min`: as coarse as an estimate is. */
const roughly = (seconds: number): string => {
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const [hours, rest] = [Math.floor(minutes / 60), 5 * Math.round((minutes % 60) / 5)]
  return rest === 0 ? `${hours} h` : rest === 60 ? `${hours + 1} h` : `${hours} h ${rest} min`
}

/**
 * The remaining time in words, with what it is based on: `about 12 min left, from earlier runs`. Undefined when nothing can be said: the run
 * is over, has no plan, is being stopped, or waits for something.
 */
export const remainingText = (
  { remainingSeconds, fromEarlierRuns, late }: RunProgress,
  state: Pick<RunState, "status" | "cancelRequested" | "waits">,
): string | undefined => {
  if (remainingSeconds === undefined || state.status !== "running" || state.cancelRequested) return undefined
  if (state.waits.size > 0) return undefined
  if (late) return fromEarlierRuns ? "longer than usual" : "longer than first guessed"
  const time = remainingSeconds < 60 ? "less than a minute left" : `about ${roughly(remainingSeconds)} left`
  return `${time}, ${fromEarlierRuns ? "from earlier runs" : "a first guess"}`
}
