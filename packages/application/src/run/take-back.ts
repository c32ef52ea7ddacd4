import { type Action, type Fault, type RunHead, type RunState, testingSnapshot, type Vmid } from "@rangewright/domain"
import { Hypervisor, Machines, monotonicMillis } from "@rangewright/ports"
import { retryStorage } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { insist } from "./insist.ts"
import { readSnapshots } from "../range/snapshot-reader.ts"
import { restoreRequest } from "./request.ts"

type Taken = Extract<Action, { readonly kind: "take-snapshot" }>

/** Longest wait of a whole run for an unreachable hypervisor: a run that is about to end cannot be aborted. */
const waitAtMostSeconds = 120

/** Stores which snapshots a machine has after a step whose end does not tell. */
const lookAgain = ({ machine, snapshot: { name } }: Taken, until: number) =>
  insist(readSnapshots(machine), { until }).pipe(
    Effect.flatMap((kept) =>
      Machines.use((machines) => retryStorage(machines.keepSnapshots(machine.mark.range, machine.vmid, kept))),
    ),
    Effect.catch((fault: Fault) =>
      Effect.logWarning(`it is not known whether VM ${machine.vmid} has snapshot ${name} of a run that failed: ${fault.message}`),
    ),
  )

/** Removes a snapshot if it exists and was made by this request, and stores which snapshots are left in any case. */
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

/** Machines whose earlier snapshot a run has begun to replace: they keep the new one, and are never left without any. */
const replacedIn = (state: RunState): ReadonlySet<Vmid> =>
  new Set(
    [...state.steps.values()].flatMap(({ step: { action }, attempt }) =>
      action.kind === "remove-snapshot" && action.snapshot === testingSnapshot && attempt > 0 ? [action.machine.vmid] : [],
    ),
  )

/** Whether an unsuccessful run must leave no snapshot: a run that starts testing must, until it begins to cut off the range. */
const wantsAllOrNone = (head: RunHead, state: RunState): boolean => {
  const request = restoreRequest(head.options)
  if (request?.kind === "snapshot-create") return request.atomic
  return (
    request?.kind === "testing-start" &&
    ![...state.steps.values()].some(({ step: { action }, attempt }) => action.kind === "record-testing" && attempt > 0)
  )
}

/**
 * Removes the snapshots of a failed all-or-none run, including those that it may have taken without learning the end of the step. For any
 * other run that takes snapshots, checks whether those whose step failed exist. May be repeated. If the hypervisor stays unreachable, the
 * run ends anyway, and the caller is told what may be left.
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
