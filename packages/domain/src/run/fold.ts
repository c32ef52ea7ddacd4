import type { Vmid } from "../access/ids.ts"
import type { Step } from "../plan/plan.ts"
import type { JournalEntry, RunEvent } from "./event.ts"
import { isDone, isRunning } from "./progress.ts"
import { reallocateStep } from "./reallocate.ts"
import { isCancellable, type PastWait, type RunState, type StepAttempt, type StepState, type Wait } from "./state.ts"

/** An incremental fold: `push` costs O(1) per entry (a reallocation: O(steps of its machine), a resumption: O(steps)). */
export interface RunFold {
  /** Takes entries in order. An entry that was pushed before is ignored, so that a page may be read twice. */
  readonly push: (entry: JournalEntry) => void
  /** A live view: later pushes change its maps. */
  readonly state: () => RunState
}

const planned = (step: Step): StepState => ({
  step,
  phase: "planned",
  attempt: 0,
  attempts: [],
  token: undefined,
  startedAt: undefined,
  endedAt: undefined,
  facts: undefined,
  progress: undefined,
  failure: undefined,
  skippedBecause: undefined,
  interrupted: false,
})

export const emptyRunState: RunState = {
  plan: undefined,
  steps: new Map(),
  status: "running",
  message: "",
  waits: new Map(),
  waited: [],
  cancelRequested: false,
  cancelRequestedAt: undefined,
  irreversible: false,
  reallocated: new Map(),
  notified: new Map(),
  lastSeq: 0,
  endedAt: undefined,
}

type StepEvent = Extract<
  RunEvent,
  { readonly type: "StepStarted" | "StepDispatched" | "StepProgress" | "StepSettled" | "StepFailed" | "StepSkipped" }
>

/** The attempts with the last one, if still in progress, ended this way. */
const ended = (attempts: readonly StepAttempt[], at: Date, failure?: StepAttempt["failure"]): readonly StepAttempt[] =>
  attempts.map((attempt) => (attempt.endedAt === undefined ? { ...attempt, endedAt: at, failure } : attempt))

/** The state of a step after an event. */
const stepAfter = (was: StepState, event: StepEvent, at: Date): StepState => {
  switch (event.type) {
    case "StepStarted":
      return {
        ...was,
        phase: "started",
        attempt: event.attempt,
        // an attempt interrupted by a crash counts as ended when the next one began
        attempts: [...ended(was.attempts, at), { startedAt: at, endedAt: undefined, failure: undefined }],
        token: undefined,
        startedAt: was.startedAt ?? at,
        endedAt: undefined,
        progress: undefined,
      }
    case "StepDispatched":
      return { ...was, phase: "dispatched", attempt: event.attempt, token: event.token }
    case "StepProgress":
      return { ...was, progress: { done: event.done, total: event.total } }
    case "StepSettled":
      return {
        ...was,
        phase: "settled",
        attempts: ended(was.attempts, at),
        facts: event.facts,
        failure: undefined,
        endedAt: at,
      }
    case "StepFailed": {
      const failed = { ...was, attempts: ended(was.attempts, at, event.failure), failure: event.failure }
      // a step whose failure is not final can be started again
      return event.final ? { ...failed, phase: "failed", endedAt: at } : { ...failed, phase: "planned", token: undefined }
    }
    case "StepSkipped":
      return { ...was, phase: "skipped", skippedBecause: event.because, endedAt: at }
  }
}

/** A crash came while the step was in progress. One that waited to be dispatched has done nothing yet, so it starts again. */
const interrupted = ({ phase }: StepState, waited: boolean): Partial<StepState> =>
  phase === "started" && waited ? { interrupted: true, phase: "planned" } : { interrupted: true }

/** Starts a fold over a journal. Total: every prefix and every order of events gives a state. */
export const openFold = (): RunFold => {
  const steps = new Map<string, StepState>()
  const ofMachine = new Map<string, string[]>()
  const reallocated = new Map<string, Vmid>()
  const notified = new Map<string, string | undefined>()
  const waits = new Map<string | undefined, Wait>()
  const waited: PastWait[] = []
  /** Index in `waited` of the current wait per key. */
  const open = new Map<string | undefined, number>()
  let state: RunState = { ...emptyRunState, steps, reallocated, notified, waits, waited }

  const closeWait = (key: string | undefined, at: Date): void => {
    const place = open.get(key)
    const was = place === undefined ? undefined : waited[place]
    if (place === undefined || was === undefined) return
    waited[place] = { ...was, to: at }
    open.delete(key)
  }
  const goOn = (key: string | undefined, at: Date): void => {
    waits.delete(key)
    closeWait(key, at)
  }
  const wait = ({ key, reason, behind }: Extract<RunEvent, { readonly type: "Waiting" }>, at: Date): void => {
    closeWait(key, at)
    waits.set(key, { reason, blockedBy: behind })
    open.set(key, waited.push({ key, reason, blockedBy: behind, from: at, to: undefined }) - 1)
  }
  const goOnWithAll = (at: Date): void => {
    for (const key of open.keys()) goOn(key, at)
  }

  const plan = (event: Extract<RunEvent, { readonly type: "Planned" }>): Partial<RunState> => {
    steps.clear()
    ofMachine.clear()
    for (const step of event.plan.steps) {
      steps.set(step.key, planned(step))
      if (step.machine === undefined) continue
      const keys = ofMachine.get(step.machine)
      if (keys === undefined) ofMachine.set(step.machine, [step.key])
      else keys.push(step.key)
    }
    return { plan: event.plan }
  }

  const reallocate = (event: Extract<RunEvent, { readonly type: "Reallocated" }>): Partial<RunState> => {
    reallocated.set(event.machine, event.to)
    for (const key of ofMachine.get(event.machine) ?? []) {
      const was = steps.get(key)
      if (was !== undefined) steps.set(key, { ...was, step: reallocateStep(was.step, event.from, event.to) })
    }
    return {}
  }

  const step = (event: StepEvent, at: Date): Partial<RunState> => {
    const was = steps.get(event.key)
    if (was === undefined) return {}
    const now = stepAfter(was, event, at)
    steps.set(event.key, now)
    if (isDone(now)) goOn(event.key, at)
    return {}
  }

  /** The order in the journal decides: a point of no return after a cancel was not reached, and its step has not started. */
  const start = (event: Extract<RunEvent, { readonly type: "StepStarted" }>, at: Date): Partial<RunState> => {
    if (steps.get(event.key)?.step.pointOfNoReturn !== true) return step(event, at)
    if (state.cancelRequested && !state.irreversible) return {}
    return { ...step(event, at), irreversible: true }
  }

  const change = (event: RunEvent, at: Date): Partial<RunState> => {
    switch (event.type) {
      case "Planned":
        return plan(event)
      case "StepStarted":
        return start(event, at)
      case "Reallocated":
        return reallocate(event)
      case "StepDispatched":
      case "StepProgress":
      case "StepSettled":
      case "StepFailed":
      case "StepSkipped":
        return step(event, at)
      case "Waiting":
        wait(event, at)
        return {}
      case "Continued":
        goOn(event.key, at)
        return {}
      case "Notified":
        notified.set(event.to, event.because)
        return {}
      case "CancelRequested":
        return isCancellable(state) ? { cancelRequested: true, cancelRequestedAt: state.cancelRequestedAt ?? at } : {}
      case "Ended":
        goOnWithAll(at)
        return { status: event.status, message: event.message, endedAt: at }
      case "Resumed":
        for (const [key, was] of steps) if (isRunning(was)) steps.set(key, { ...was, ...interrupted(was, waits.has(key)) })
        goOnWithAll(at)
        return {}
      case "Output":
        return {}
    }
  }

  return {
    push: (entry) => {
      if (entry.seq <= state.lastSeq) return
      state = { ...state, ...change(entry.event, entry.at), lastSeq: entry.seq }
    },
    state: () => state,
  }
}

/** The state of a run after these entries. */
export const foldRun = (entries: Iterable<JournalEntry>): RunState => {
  const fold = openFold()
  for (const entry of entries) fold.push(entry)
  return fold.state()
}
