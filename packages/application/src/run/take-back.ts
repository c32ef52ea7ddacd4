import { type Action, type Fault, type RunHead, type RunState, testingSnapshot, type Vmid } from "@rangewright/domain"
import { Hypervisor, Machines, monotonicMillis } from "@rangewright/ports"
import { retryStorage } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { insist } from "./insist.ts"
import { readSnapshots } from "../range/snapshot-reader.ts"
import { restoreRequest } from "./request.ts"

type Taken = Extract<Action, { readonly kind: "take-snapshot" }>

/** Longest wait of a whole run for a hypervisor that is unreachable: nobody can abort a run that is about to end. */
const waitAtMostSeconds = 120

/** Keeps which snapshots a machine has after a step whose end says nothing of that. */
const lookAgain = ({ machine, snapshot: { name } }: Taken, until: number) =>
  insist(readSnapshots(machine), { until }).pipe(
    Effect.flatMap((kept) =>
      Machines.use((machines) => retryStorage(machines.keepSnapshots(machine.mark.range, machine.vmid, kept))),
    ),
    Effect.catch((fault: Fault) =>
      Effect.logWarning(`it is not known whether VM ${machine.vmid} has snapshot ${name} of a run that failed: ${fault.message}`),
    ),
  )

/** Removes a snapshot if it is there and is the one that this request made, and keeps which snapshots are left, whatever came of that. */
const removeAgain = (taken: Taken, until: number) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const { machine, snapshot } = taken
    const action = { kind: "remove-snapshot", machine, snapshot: snapshot.name, description: snapshot.description } as const
    const removal = Effect.flatMap(hypervisor.dispatch(action), ({ token }) => hypervisor.settle(action, token))
    const removed = yield* Effect.result(insist(removal, { until }))
    if (removed._tag === "Failure") yield* Effect.logWarning(removed.failure.message)
    yield* lookAgain(taken, until)
  })

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
 * know. Of any other run that takes snapshots it is looked up whether those that failed are there. May be repeated. Where the hypervisor stays
 * away, the run ends all the same, and who asked is told what may be left.
 */
export const takeBack = (head: RunHead, state: RunState): Effect.Effect<void, never, Hypervisor | Machines> => {
  const isAllOrNone = wantsAllOrNone(head, state)
  if (!isAllOrNone && head.kind !== "snapshot-create") return Effect.void
  const replaced = replacedIn(state)
  const tried = [...state.steps.values()].flatMap(({ step: { action }, attempt, phase }) =>
    action.kind === "take-snapshot" && attempt > 0 && !replaced.has(action.machine.vmid) && (isAllOrNone || phase === "failed")
      ? [action]
      : [],
  )
  const clear = isAllOrNone ? removeAgain : lookAgain
  return Effect.flatMap(monotonicMillis, (now) =>
    Effect.forEach(tried, (action) => clear(action, now + waitAtMostSeconds * 1000), { concurrency: 4, discard: true }),
  )
}
