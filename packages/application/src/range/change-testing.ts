import {
  Failed,
  type Fault,
  type Range,
  type RunId,
  type RunState,
  testingKey,
  type TestingMode,
  type UserId,
} from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import { anyEndOfRun, type RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import type { TestingRequest } from "../run/request.ts"
import { startRun } from "./run-to-end.ts"

/** What a run that failed leaves, and what to do about it. */
const whereItStands: Readonly<Record<TestingMode, string>> = {
  off: "The range is open as before.",
  entering: "The range counts as cut off (testing state entering). Start testing again, or stop it.",
  on: "Testing is still on.",
  leaving:
    "The range stays cut off (testing state leaving). Stop testing again; with force it is opened whatever became of its machines.",
}

const failed = (doing: string, range: Range, runId: RunId, state: RunState) =>
  Effect.gen(function* () {
    const now = (yield* (yield* Ranges).find(range.id))?.testing ?? range.testing
    const because = state.message === "" ? `the run was ${state.status}` : state.message
    return yield* Effect.fail(
      new Failed({ what: `Cannot ${doing}: ${because}`, hint: `${whereItStands[now.mode]} GET /runs/${runId} shows more.` }),
    )
  })

/** Whether a run did what was asked for: it succeeded, or what failed of it did not keep the range from this mode. */
const isDone = ({ kind }: TestingRequest, { steps, status }: RunState, mode: TestingMode): boolean =>
  status === "success" || (kind !== "testing-change" && steps.get(testingKey(mode))?.phase === "settled")

/** Runs a request that leaves the range in this mode to its end. Callers that leave do not end the run. */
export const changeTesting = (
  doing: string,
  range: Range,
  request: TestingRequest,
  mode: TestingMode,
  by: UserId,
): Effect.Effect<{ readonly state: RunState; readonly runId: RunId }, Fault, Machines | Ranges | RunEngine> =>
  Effect.gen(function* () {
    const { id: runId } = yield* startRun(doing, range, request, by)
    const state = yield* anyEndOfRun(doing, runId)
    return isDone(request, state, mode) ? { state, runId } : yield* failed(doing, range, runId, state)
  })

/** What a client should know of a run that came to its end: what the router cannot prevent, and what could not be had of machines. */
export const warningsOf = (state: RunState): { readonly warnings?: readonly string[] } => {
  const told = [...state.steps.values()].flatMap(({ step, facts }) =>
    (facts?.warnings ?? []).map((warning) => (step.machine === undefined ? warning : `${step.machine}: ${warning}`)),
  )
  const warnings = [...(state.plan?.notes ?? []), ...leftUndone(state), ...told]
  return warnings.length === 0 ? {} : { warnings }
}

/** What was not done to machines in a run that came to its end all the same. */
export const leftUndone = ({ steps }: RunState): readonly string[] =>
  [...steps.values()].flatMap(({ step, phase, failure, skippedBecause }) =>
    step.machine === undefined || phase === "settled" || phase === "planned"
      ? []
      : [`${step.machine}: ${failure?.message ?? skippedBecause ?? `${step.title} was not done`}`],
  )
