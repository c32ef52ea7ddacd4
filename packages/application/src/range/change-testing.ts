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

/** What a run that failed leaves, and what to do about it. */
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
    // a run that planned nothing did nothing: what was changed while it waited may be why
    if (state.plan === undefined) yield* requireMode(now, kind)
    const because = state.message === "" ? `the run was ${state.status}` : state.message
    return yield* new Failed({
      what: `Cannot ${doing}: ${because}`,
      hint: `${whereItStands(kind, now.testing.mode, state)} GET /runs/${runId} shows more.`,
    })
  })

/** Whether a run did what was asked for: it succeeded, or what failed of it kept neither the range from this mode nor the router from its rules. */
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

/** How testing of a range is started. */
export const testingStart = Effect.map(markedText("Taken when testing started"), (description): TestingRequest => ({
  kind: "testing-start",
  description,
}))

/** How it is stopped. What the router counted is kept first. */
export const testingStop = (doing: string, range: Range, force: boolean) =>
  Effect.as(keepLastLook(doing, range), { kind: "testing-stop", force } satisfies TestingRequest)

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
  [...steps.values()].flatMap(({ step: { machine, action, title }, phase, failure, skippedBecause }) => {
    const of = machine ?? (action.kind === "refuse" ? `VM ${action.vmid}` : undefined)
    return of === undefined || phase === "settled" || phase === "planned"
      ? []
      : [`${of}: ${failure?.message ?? skippedBecause ?? `${title} was not done`}`]
  })
