import type { RunStatus } from "./event.ts"
import { progressOf } from "./progress.ts"
import type { RunState } from "./state.ts"

export interface Conclusion {
  readonly status: Exclude<RunStatus, "running">
  /** Empty for success; otherwise each failed step with its exact reason. */
  readonly message: string
}

/** Failures named in a message; the journal holds them all. */
const namedAtMost = 10

/** How a run ends whose steps are all settled, failed or skipped. A cancelled run is aborted, whatever its steps came to. */
export const concludeRun = (state: RunState): Conclusion => {
  const { total, failed, skipped } = progressOf(state, new Date(0))
  if (failed === 0 && !state.cancelRequested) return { status: "success", message: "" }
  const named = [...state.steps.values()].flatMap(({ step, phase, failure }) =>
    phase === "failed" && failure !== undefined ? [`${step.title}: ${failure.message}`] : [],
  )
  const parts = [
    ...(state.cancelRequested ? ["the run was aborted"] : []),
    ...(failed === 0 ? [] : [`${failed} of ${total} steps failed: ${named.slice(0, namedAtMost).join("; ")}`]),
    ...(named.length > namedAtMost ? [`and ${named.length - namedAtMost} more`] : []),
    ...(skipped === 0 ? [] : [`${skipped} steps were not run`]),
  ]
  return { status: state.cancelRequested ? "aborted" : "failure", message: parts.join("; ") }
}
