import { type Conclusion, isClosed, noTesting, rangeOf, type RunHead, type RunState } from "@rangewright/domain"
import { GuestAutomation, type Hypervisor, Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { retryStorage } from "@rangewright/run-engine"
import { takeBack } from "./take-back.ts"

/** Names of machines that the run deleted and did not clone again: their VMIDs are free for others. */
const goneMachines = (state: RunState): readonly string[] => {
  const actions = [...state.steps.values()].map(({ step }) => step.action)
  const made = new Set(actions.flatMap((action) => (action.kind === "clone" ? [action.machine.vmid] : [])))
  return actions.flatMap((action) =>
    action.kind === "delete" && !made.has(action.machine.vmid) ? [action.machine.mark.machine] : [],
  )
}

/**
 * Applies a run's success to the store, before the run is closed; may be repeated. True: the range was removed, and with it the run's
 * journal, so that there is nothing to close. `onRemoval` is called just before that.
 */
export const finishRun = Effect.fnUntraced(function* (
  head: RunHead,
  state: RunState,
  end: Conclusion,
  onRemoval: Effect.Effect<void>,
): Effect.fn.Return<boolean, never, GuestAutomation | Hypervisor | Machines | Ranges> {
  const machines = yield* Machines
  const ranges = yield* Ranges
  const guests = yield* GuestAutomation
  const rangeId = rangeOf(head)
  if (end.status !== "success") yield* takeBack(head, state)
  if (rangeId === undefined || end.status !== "success") return false
  if (head.kind === "delete-range" || head.kind === "destroy") {
    const removed = head.kind === "destroy" ? undefined : (yield* retryStorage(ranges.find(rangeId)))?.recordId
    // a failure is harmless: leftovers are bound to VMs or to a range that are gone, and never used again
    yield* (guests.forgetRange?.(rangeId, removed) ?? Effect.void).pipe(Effect.catch((fault) => Effect.logWarning(fault.message)))
  }
  if (head.kind === "delete-range") {
    yield* onRemoval
    yield* retryStorage(ranges.remove(rangeId))
    return true
  }
  if (head.kind === "destroy") {
    const range = yield* retryStorage(ranges.find(rangeId))
    // a range that was removed meanwhile has no testing mode to end
    if (range !== undefined && isClosed(range.testing))
      yield* retryStorage(ranges.change(range.id, { testing: noTesting })).pipe(Effect.ignore)
  }
  const gone = goneMachines(state)
  if (gone.length > 0) yield* retryStorage(machines.release(rangeId, gone))
  return false
})
