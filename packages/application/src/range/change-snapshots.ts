import {
  type Fault,
  findSnapshot,
  isSnapshotOf,
  isClosed,
  type Range,
  snapshotNameProblem,
  testingSnapshotProblem,
  writeSnapshotText,
  type StepState,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import { CredentialHasher, type KeptSnapshots, Machines, type RangeMachine, type StorageFault } from "@rangewright/ports"
import type { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import type { SnapshotRequest } from "../run/request.ts"
import { named, type SnapshotError, type SnapshotOutcome } from "../wire/snapshot.ts"
import { endOrWait, errorOf, stepsByMachine } from "./machine-outcomes.ts"
import { startRun } from "./run-to-end.ts"

type Refused = typeof SnapshotError.Type

/** The machines of a range that a caller names, and why the others are refused. Without any name, all of them, the router too. */
export const selectMachines = (
  range: Range,
  vmids: readonly (number | string)[] | null | undefined,
): Effect.Effect<{ readonly machines: readonly RangeMachine[]; readonly refused: readonly Refused[] }, StorageFault, Machines> =>
  Effect.map(
    Machines.use((machines) => machines.ofRange(range.id)),
    (own) => {
      if (vmids === undefined || vmids === null || vmids.length === 0) return { machines: own, refused: [] }
      const asked = new Set(vmids.map(Number))
      const known = new Set<number>(own.map(({ vmid }) => vmid))
      return {
        machines: own.filter(({ vmid }) => asked.has(vmid)),
        refused: [...asked].flatMap((vmid) =>
          known.has(vmid) ? [] : [{ vmid, error: `VM ${vmid} is not a machine of range ${range.id}` }],
        ),
      }
    },
  )

/** A description that identifies the snapshots of one request. */
export const markedText = (text: string): Effect.Effect<string, never, CredentialHasher> =>
  Effect.map(CredentialHasher, (hasher) => writeSnapshotText(text, hasher.randomText(12)))

/** Why no snapshot of the range may be changed by this name; undefined: it may. */
export const snapshotProblem = ({ testing }: Range, name: string): string | undefined =>
  snapshotNameProblem(name) ?? (isClosed(testing) ? testingSnapshotProblem(name) : undefined)

/** Whether the snapshot of this request is on a machine, according to the last read; undefined when that was before the step ended. */
const isLeft = (
  tree: KeptSnapshots | undefined,
  steps: readonly StepState[],
  { name, description }: { readonly name: string; readonly description: string },
): boolean | undefined => {
  const found = tree === undefined ? undefined : findSnapshot(tree, name)
  if (found !== undefined && isSnapshotOf(found, description)) return true
  const tried = steps.find(({ step: { action }, attempt }) => action.kind === "take-snapshot" && attempt > 0)
  const since = tried?.endedAt ?? tried?.startedAt
  return since !== undefined && (tree === undefined || tree.readAt < since) ? undefined : false
}

/** The outcome for each machine when all or none were requested, and one failed. */
const tookBack = (
  request: { readonly rangeId: Range["id"]; readonly name: string; readonly description: string },
  machines: readonly RangeMachine[],
  errors: ReadonlyMap<Vmid, string>,
  stepsOf: (vmid: Vmid) => readonly StepState[],
  runId: string,
) =>
  Effect.gen(function* () {
    const machineStore = yield* Machines
    const kept = yield* machineStore.snapshots(request.rangeId)
    const [first = "the run was aborted"] = errors.values()
    return new Map(
      machines.map(({ vmid }) => {
        const left = isLeft(kept.get(vmid), stepsOf(vmid), request)
        const own = errors.get(vmid)
        if (left === false)
          return [vmid, own ?? `its snapshot was removed again, because all or none were requested: ${first}`] as const
        return [
          vmid,
          `${own ?? `all or none were requested, and one could not be taken: ${first}`}. Its snapshot ${request.name} ${left === true ? "is" : "may be"} there, and could not be removed again: remove it, or look at GET /runs/${runId}`,
        ] as const
      }),
    )
  })

/** Why machines have no snapshot, and which have it all the same: a step may fail after its effect. */
const takenAllTheSame = (
  request: { readonly rangeId: Range["id"]; readonly name: string; readonly description: string },
  errors: ReadonlyMap<Vmid, string>,
  stepsOf: (vmid: Vmid) => readonly StepState[],
) =>
  Effect.map(
    Machines.use((machines) => machines.snapshots(request.rangeId)),
    (kept) =>
      new Map(
        [...errors].map(([vmid, error]) => {
          const left = isLeft(kept.get(vmid), stepsOf(vmid), request)
          if (left === false) return [vmid, error] as const
          return [vmid, `${error}. Its snapshot ${request.name} ${left === true ? "is" : "may be"} there all the same`] as const
        }),
      ),
  )

const outcome = (
  machines: readonly RangeMachine[],
  errors: ReadonlyMap<Vmid, string>,
  stepsOf: (vmid: Vmid) => readonly StepState[],
): typeof SnapshotOutcome.Type => {
  const success = machines.flatMap(({ vmid }) => (errors.has(vmid) ? [] : [vmid]))
  const failed = machines.flatMap((machine) => {
    const error = errors.get(machine.vmid)
    return error === undefined ? [] : [{ ...named(machine), error }]
  })
  const warnings = machines.flatMap((machine) =>
    stepsOf(machine.vmid).flatMap(({ facts }) => (facts?.warnings ?? []).map((warning) => ({ ...named(machine), warning }))),
  )
  return {
    ...(success.length === 0 ? {} : { success }),
    ...(failed.length === 0 ? {} : { errors: failed }),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

const withRefused = (told: typeof SnapshotOutcome.Type, refused: readonly Refused[]): typeof SnapshotOutcome.Type =>
  refused.length === 0 ? told : { ...told, errors: [...refused, ...(told.errors ?? [])] }

/**
 * Takes, rolls back to or removes a snapshot of machines of a range, and waits for it. Failures are reported per machine; an invalid name
 * is reported for each, and nothing is done. `doing` completes "Cannot …". `make`: the request for these machines.
 */
export const changeSnapshots = (
  doing: string,
  range: Range,
  { name, vmids }: { readonly name: string; readonly vmids?: readonly (number | string)[] | null },
  make: (vmids: readonly Vmid[]) => SnapshotRequest,
  by: UserId,
): Effect.Effect<typeof SnapshotOutcome.Type, Fault, Machines | RunEngine> =>
  Effect.gen(function* () {
    const { machines, refused } = yield* selectMachines(range, vmids)
    const request = make(machines.map(({ vmid }) => vmid))
    const isAtomic = request.kind !== "snapshot-remove" && request.atomic
    const isRemovedAgain = isAtomic && request.kind === "snapshot-create"
    const [first] = refused
    const problem =
      snapshotProblem(range, name) ??
      (isAtomic && first !== undefined ? `nothing was done, because all or none were requested: ${first.error}` : undefined)
    if (problem !== undefined || machines.length === 0) {
      const errors = new Map(machines.map(({ vmid }) => [vmid, problem ?? ""]))
      return withRefused(
        outcome(machines, errors, () => []),
        refused,
      )
    }
    const head = yield* startRun(doing, range, request, by)
    const { state, away } = yield* endOrWait(doing, head.id)
    const unfinished = away === undefined ? undefined : `${away.message}. ${away.hint}`
    const steps = stepsByMachine(state)
    const stepsOf = (vmid: Vmid) => steps.get(vmid) ?? []
    const errors = new Map(
      machines.flatMap(({ vmid }) => {
        // with all or none, a snapshot that was taken may be removed again
        const error = errorOf(stepsOf(vmid), state, unfinished) ?? (isRemovedAgain ? unfinished : undefined)
        return error === undefined ? [] : [[vmid, error] as const]
      }),
    )
    const hasEnded = request.kind === "snapshot-create" && away === undefined && state.status !== "success"
    const all = !hasEnded
      ? errors
      : request.atomic
        ? yield* tookBack({ ...request, rangeId: range.id }, machines, errors, stepsOf, head.id)
        : yield* takenAllTheSame({ ...request, rangeId: range.id }, errors, stepsOf)
    return { ...withRefused(outcome(machines, all, stepsOf), refused), runID: head.id }
  })
