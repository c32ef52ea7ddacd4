import { type MigrationStep, type RunState, undoMigration } from "@rangewright/domain"
import { HypervisorFault, MigrationRecords, type NetworkMigration } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { insist } from "../run/insist.ts"
import { MigrationStepJson, networkStep, performAction, wasRecorded } from "./migration-work.ts"

const decode = Schema.decodeUnknownOption(MigrationStepJson)

/** The migration's own steps of a run, and the keys of those that were started. */
const stepsOf = (state: RunState) => {
  const steps: Pick<MigrationStep, "key" | "phase" | "action">[] = []
  const begun = new Set<string>()
  for (const { step, attempt } of state.steps.values()) {
    const { action } = step
    if (action.kind !== "work" || action.work !== networkStep.name) continue
    const read = decode(action.input)
    if (Option.isNone(read)) continue
    steps.push({ key: step.key, ...read.value })
    if (attempt > 0) begun.add(step.key)
  }
  return { steps, begun }
}

/** How far a run got: after the first move a migration can only go forward. */
export const reachOf = (state: RunState): "nothing" | "prepared" | "moved" => {
  const { steps, begun } = stepsOf(state)
  if (steps.some(({ key, phase }) => phase !== "prepare" && begun.has(key))) return "moved"
  return begun.size === 0 ? "nothing" : "prepared"
}

/** An object that somebody else put in the place of ours must not be undone. */
const isTheirs = (fault: unknown): boolean => fault instanceof HypervisorFault && fault.facts.reason === "not-ours"

/**
 * Undoes the preparations of a failed run, unless machines have moved. A failure to undo one does not stop the rest; the first failure is
 * the effect's. May be repeated.
 */
export const undoNetworks = (
  state: RunState,
): Effect.Effect<void, Effect.Error<ReturnType<typeof performAction>>, MigrationRecords | NetworkMigration> =>
  Effect.gen(function* () {
    const { steps, begun } = stepsOf(state)
    const undo = undoMigration(steps, begun, wasRecorded(state)) ?? []
    const ends = yield* Effect.forEach(undo, ({ action }) => Effect.result(insist(performAction(action))))
    const failure = ends.find((end) => Result.isFailure(end) && !isTheirs(end.failure))
    if (failure !== undefined) yield* Effect.fromResult(failure)
  })
