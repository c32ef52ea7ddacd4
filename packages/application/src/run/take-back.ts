import { type Action, type Fault, type RunHead, type RunState, testingSnapshot, type Vmid } from "@rangewright/domain"
import { Hypervisor, Machines, monotonicMillis } from "@rangewright/ports"
import { retryStorage } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { insist } from "./insist.ts"
import { readSnapshots } from "../range/snapshot-reader.ts"
import { restoreRequest } from "./request.ts"

type Taken = Extract<Action, { readonly kind: "take-snapshot" }>

/** Longest wait of a whole run for a hypervisor that is away: nobody can abort a run that is about to end. */
const waitAtMostSeconds = 120

/** Removes a snapshot if it is there and is the one that this request made, and keeps which snapshots are left, whatever came of that. */
const removeAgain = ({ machine, snapshot: { name, description } }: Taken, until: number) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const machines = yield* Machines
    const action = { kind: "remove-snapshot", machine, snapshot: name, description } as const
    const removal = Effect.flatMap(hypervisor.dispatch(action), ({ token }) => hypervisor.settle(action, token))
    const removed = yield* Effect.result(insist(removal, { until }))
    if (removed._tag === "Failure") yield* Effect.logWarning(removed.failure.message)
    const kept = yield* insist(readSnapshots(machine), { until })
    yield* retryStorage(machines.keepSnapshots(machine.mark.range, machine.vmid, kept))
  }).pipe(
    Effect.catch((fault: Fault) =>
      Effect.logWarning(
        `whether VM ${machine.vmid} still has snapshot ${name}, which was to be removed again, is not known: ${fault.message}`,
      ),
    ),
  )

/** Machines whose earlier snapshot a run has begun to replace: they keep what it made, and are never left without any. */
const replacedIn = (state: RunState): ReadonlySet<Vmid> =>
  new Set(
    [...state.steps.values()].flatMap(({ step: { action }, attempt }) =>
      action.kind === "remove-snapshot" && action.snapshot === testingSnapshot && attempt > 0 ? [action.machine.vmid] : [],
    ),
  )

/** Whether a run that does not succeed leaves no snapshot: one that starts testing does so until it begins to cut the range off. */
const wantsAllOrNone = (head: RunHead, state: RunState): boolean => {
  const request = restoreRequest(head.options)
  if (request?.kind === "snapshot-create") return request.atomic
  return (
    request?.kind === "testing-start" &&
    ![...state.steps.values()].some(({ step: { action }, attempt }) => action.kind === "record-testing" && attempt > 0)
  )
}

/**
 * Removes what a run has made that was to take all snapshots or none. What it may have made counts too: who did not learn the end of a step cannot
 * know. May be repeated. Where the hypervisor stays away, the run ends all the same, and who asked is told what may be left.
 */
export const takeBack = (head: RunHead, state: RunState): Effect.Effect<void, never, Hypervisor | Machines> => {
  if (!wantsAllOrNone(head, state)) return Effect.void
  const replaced = replacedIn(state)
  const made = [...state.steps.values()].flatMap(({ step: { action }, attempt }) =>
    action.kind === "take-snapshot" && attempt > 0 && !replaced.has(action.machine.vmid) ? [action] : [],
  )
  return Effect.flatMap(monotonicMillis, (now) =>
    Effect.forEach(made, (action) => removeAgain(action, now + waitAtMostSeconds * 1000), { concurrency: 4, discard: true }),
  )
}
