import type { RunStatus } from "./event.ts"
import { progressOf } from "./progress.ts"
import type { RunState, StepState } from "./state.ts"

export interface Conclusion {
  readonly status: Exclude<RunStatus, "running">
  /** Empty for success; otherwise each failed step with its exact reason. */
  readonly message: string
}

/** Failures named in a message; the journal holds them all. */
const namedAtMost = 10

const statusOf = (steps: readonly StepState[], cancelled: boolean): Conclusion["status"] => {
  if (cancelled) return "aborted"
  const failed = steps.filter(({ phase }) => phase === "failed")
  if (failed.length === 0) return "success"
  const allTolerated = failed.every(({ step }) => step.tolerated === true)
  // a run that achieved nothing is a failure, not a part of a success
  const someDone = steps.some(({ step, phase }) => step.tolerated === true && phase === "settled")
  return allTolerated && someDone ? "partial" : "failure"
}

/** The outcome of a run whose steps are all settled, failed or skipped. A cancelled run is aborted, whatever its steps did. */
export const concludeRun = (state: RunState): Conclusion => {
  const { total, failed, skipped } = progressOf(state, new Date(0))
  const steps = [...state.steps.values()]
  const status = statusOf(steps, state.cancelRequested)
  if (status === "success") return { status, message: "" }
  const named = steps.flatMap(({ step, phase, failure }) =>
    phase === "failed" && failure !== undefined ? [`${step.title}: ${failure.message}`] : [],
  )
  const parts = [
    ...(state.cancelRequested ? ["the run was aborted"] : []),
    ...(failed === 0 ? [] : [`${failed} of ${total} steps failed: ${named.slice(0, namedAtMost).join("; ")}`]),
    ...(named.length > namedAtMost ? [`and ${named.length - namedAtMost} more`] : []),
    ...(skipped === 0 ? [] : [skipped === 1 ? "1 step was not run" : `${skipped} steps were not run`]),
  ]
  return { status, message: parts.join("; ") }
}
