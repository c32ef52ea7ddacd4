import { defineFault, emptyRunState, type Fault, Failed, type RunId, type RunState } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { RunEngine } from "./run-engine.ts"

/** The hypervisor does not answer, so what was asked for cannot be done now. */
export class HypervisorAway extends defineFault(
  "HypervisorAway",
  "unavailable",
  (f: { readonly doing: string; readonly because: string; readonly runId?: RunId }) => ({
    message: `Cannot ${f.doing}: the hypervisor is away (${f.because})`,
    hint:
      f.runId === undefined
        ? "Try again when /readyz says that it is back."
        : `Run ${f.runId} goes on by itself when it is back; watch it with GET /runs/${f.runId}.`,
  }),
) {}

const mostFailuresShown = 5

/** What went wrong in a run, for its caller. */
export const outcomeFault = (doing: string, runId: RunId, state: RunState): Failed => {
  const failures = [...state.steps.values()].flatMap((step) =>
    step.phase === "failed" && step.failure ? [step.failure.message] : [],
  )
  const shown = failures.slice(0, mostFailuresShown)
  const more = failures.length > shown.length ? [`and ${failures.length - shown.length} more`] : []
  const because =
    failures.length === 0 ? [state.message === "" ? `the run was ${state.status}` : state.message] : [...shown, ...more]
  return new Failed({
    what: `Cannot ${doing}: ${because.join("; ")}`,
    hint: `GET /runs/${runId} tells more; POST /runs/${runId}/resume goes on from there.`,
  })
}

/** Fails when the run waits for the hypervisor, now or later; never ends otherwise, also while it waits for another run. */
const waitingFault = (doing: string, runId: RunId): Effect.Effect<never, HypervisorAway, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    // a range that is deleted takes its journal with it; the end is told by `wait`
    const { lastSeq } = yield* Effect.orElseSucceed(engine.state(runId), () => emptyRunState)
    let away: string | undefined
    const waits = engine.events(runId, 0).pipe(
      Stream.filter(({ seq, event }) => {
        if (event.type === "Waiting" && event.behind === undefined) away = event.reason
        if (event.type === "Continued") away = undefined
        // what it waited for before somebody asked is over
        return seq >= lastSeq && away !== undefined
      }),
      Stream.runHead,
      Effect.ignore,
    )
    yield* waits
    return yield* away === undefined ? Effect.never : Effect.fail(new HypervisorAway({ doing, because: away, runId }))
  })

/**
 * Waits for the end of a run: what it came to, when it did all or a part of it, else why it did not. `doing` completes "Cannot …". Fails
 * also when the run waits for the hypervisor; the run itself then goes on.
 */
export const endOfRun = (doing: string, runId: RunId): Effect.Effect<RunState, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    const state = yield* Effect.raceFirst(engine.wait(runId), waitingFault(doing, runId))
    if (state.status === "success" || state.status === "partial") return state
    return yield* Effect.fail(outcomeFault(doing, runId, state))
  })
