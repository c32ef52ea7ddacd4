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
import { requireMode } from "../run/plan-testing.ts"
import type { TestingRequest } from "../run/request.ts"
import { markedText } from "./change-snapshots.ts"
import { keepLastLook } from "./inspect-router.ts"
import { startRun } from "./run-to-end.ts"

const stillEntering = "Start testing again, or stop it: only the testing state `on` means that the router is closed."

const rolledBackText = ({ steps }: RunState): string => {
  const not = [...steps.values()].flatMap(({ step: { machine, action }, phase }) =>
    phase !== "settled" && (action.kind === "roll-back" || action.kind === "refuse")
      ? [machine ?? `VM ${action.kind === "refuse" ? action.vmid : action.machine.vmid}`]
      : [],
  )
  return not.length === 0 ? "The machines are rolled back and" : `Not rolled back: ${not.join(", ")}. Even so,`
}

/** The state that a failed run leaves, and what to do about it. */
const whereItStands = (kind: TestingRequest["kind"], mode: TestingMode, state: RunState): string => {
  switch (mode) {
    case "off":
      return kind === "testing-stop"
        ? `${rolledBackText(state)} testing is off, but the router is still closed, or only partly open. Deploy the range: that opens it.`
        : "The range is open as before."
    case "entering":
      return kind === "testing-change"
        ? `The testing state is entering: the router may let through more than is listed as allowed. ${stillEntering}`
        : `The testing state is entering: the router may still be open, or partly. ${stillEntering}`
    case "on":
      return "Testing is still on."
    case "leaving":
      return "The testing state is leaving: the router lets through what it did before the stop. Stop testing again; with force the router is opened whatever happened to the machines."
  }
}

const failed = (doing: string, range: Range, kind: TestingRequest["kind"], runId: RunId, state: RunState) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const now = (yield* ranges.find(range.id)) ?? range
    // a run without a plan did nothing: a change while it waited may be the reason
    if (state.plan === undefined) yield* requireMode(now, kind)
    const because = state.message === "" ? `the run was ${state.status}` : state.message
    return yield* new Failed({
      what: `Cannot ${doing}: ${because}`,
      hint: `${whereItStands(kind, now.testing.mode, state)} GET /runs/${runId} shows more.`,
    })
  })

/**
 * Whether a run did what was requested: it succeeded, or its failures affected neither the mode of the range nor the rules of the router.
 */
const isDone = ({ steps, status }: RunState, mode: TestingMode): boolean =>
  status === "success" ||
  (steps.get(testingKey(mode))?.phase === "settled" &&
    [...steps.values()].every(({ step: { action }, phase }) => action.kind !== "guest" || phase === "settled"))

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
    return isDone(state, mode) ? { state, runId } : yield* failed(doing, range, request.kind, runId, state)
  })

/** The request that starts testing of a range. */
export const testingStart = Effect.map(markedText("Taken when testing started"), (description): TestingRequest => ({
  kind: "testing-start",
  description,
}))

/** The request that stops it. The router's counters are saved first. */
export const testingStop = (doing: string, range: Range, force: boolean) =>
  Effect.as(keepLastLook(doing, range), { kind: "testing-stop", force } satisfies TestingRequest)

/** What a client should know about a run that came to its end: what the router cannot prevent, and what failed on machines. */
export const warningsOf = (state: RunState): { readonly warnings?: readonly string[] } => {
  const told = [...state.steps.values()].flatMap(({ step, facts }) =>
    (facts?.warnings ?? []).map((warning) => (step.machine === undefined ? warning : `${step.machine}: ${warning}`)),
  )
  const warnings = [...(state.plan?.notes ?? []), ...leftUndone(state), ...told]
  return warnings.length === 0 ? {} : { warnings }
}

/** What was not done to machines in a run that came to its end all the same. */
export const leftUndone = ({ steps }: RunState): readonly string[] =>
  [...steps.values()].flatMap(({ step: { machine, action, title }, phase, failure, skippedBecause }) => {
    const of = machine ?? (action.kind === "refuse" ? `VM ${action.vmid}` : undefined)
    return of === undefined || phase === "settled" || phase === "planned"
      ? []
      : [`${of}: ${failure?.message ?? skippedBecause ?? `${title} was not done`}`]
  })
