import type { Action, RunId, RunState, StepState, Vmid } from "@rangewright/domain"
import { anyEndOfRun, HypervisorAway, RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"

const vmidOf = (action: Action): Vmid | undefined =>
  action.kind === "refuse" ? action.vmid : "machine" in action ? action.machine.vmid : undefined

const failureText = ({ failure }: StepState): string =>
  failure === undefined ? "" : failure.hint === undefined ? failure.message : `${failure.message}. ${failure.hint}`

/** The steps of a run by the machine that they are about. */
export const stepsByMachine = (state: RunState): ReadonlyMap<Vmid, readonly StepState[]> => {
  const steps = new Map<Vmid, StepState[]>()
  for (const step of state.steps.values()) {
    const vmid = vmidOf(step.step.action)
    if (vmid !== undefined) steps.set(vmid, [...(steps.get(vmid) ?? []), step])
  }
  return steps
}

/** Why the plan for a machine was not completed; undefined: it was. */
export const errorOf = (
  steps: readonly StepState[],
  { status, plan, message }: RunState,
  unfinished: string | undefined,
): string | undefined => {
  if (plan === undefined) return message === "" ? `the run was ${status}` : message
  const failed = steps.filter(({ phase }) => phase === "failed")
  if (failed.length > 0) return failed.map(failureText).join("; ")
  if (unfinished !== undefined && steps.some(({ phase }) => phase !== "settled")) return unfinished
  const skipped = steps.find(({ phase }) => phase !== "settled")
  return skipped === undefined
    ? undefined
    : `${skipped.step.title} was not done: ${skipped.skippedBecause ?? `the run was ${status}`}`
}

/** The end of a run. A run that waits for the hypervisor may have changed some machines already: its current state is returned. */
export const endOrWait = (doing: string, runId: RunId) =>
  anyEndOfRun(doing, runId).pipe(
    Effect.map((state) => ({ state, away: undefined })),
    Effect.catchIf(
      (fault) => fault instanceof HypervisorAway,
      (away) =>
        Effect.flatMap(
          RunEngine.use((engine) => engine.state(runId)),
          (state) => (state.plan === undefined ? Effect.fail(away) : Effect.succeed({ state, away })),
        ),
    ),
  )
