import {
  Conflict,
  defineFault,
  emptyRunState,
  type Fault,
  Failed,
  openFold,
  type RunId,
  type RunState,
} from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { RunEngine } from "./run-engine.ts"

/** The hypervisor does not answer, so the request cannot be done now. */
export class HypervisorAway extends defineFault(
  "HypervisorAway",
  "unavailable",
  (f: { readonly doing: string; readonly because: string; readonly runId?: RunId }) => ({
    message: `Cannot ${f.doing}: the hypervisor is unreachable (${f.because})`,
    hint:
      f.runId === undefined
        ? "Try again when /readyz says that it answers again."
        : `Run ${f.runId} resumes automatically when it answers again; watch it with GET /runs/${f.runId}.`,
  }),
) {}

const mostFailuresShown = 5

/** The fault for the caller of a run that did not succeed. */
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
    hint: `GET /runs/${runId} shows more; POST /runs/${runId}/resume continues from there.`,
  })
}

/** Why a run waits for the hypervisor; undefined while it does not, or waits for another run. */
const awayBecause = ({ waits }: RunState): string | undefined =>
  [...waits.values()].find(({ blockedBy }) => blockedBy === undefined)?.reason

/**
 * Waits for the end of a run, whatever it is. `doing` completes "Cannot …". Fails with `HypervisorAway` as soon as the run waits for the
 * hypervisor; the run itself continues.
 */
export const anyEndOfRun = (doing: string, runId: RunId): Effect.Effect<RunState, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    // earlier waits are over
    const { lastSeq: since } = yield* Effect.orElseSucceed(engine.state(runId), () => emptyRunState)
    const fold = openFold()
    yield* engine.events(runId, 0).pipe(
      Stream.takeUntil((entry) => {
        fold.push(entry)
        return entry.seq >= since && awayBecause(fold.state()) !== undefined
      }),
      Stream.runDrain,
    )
    const state = fold.state()
    const because = awayBecause(state)
    if (because !== undefined) return yield* new HypervisorAway({ doing, because, runId })
    // its journal went with its range
    if (state.status === "aborted" && Result.isFailure(yield* Effect.result(engine.state(runId))))
      return yield* new Conflict({ what: `Cannot ${doing}: ${state.message}` })
    return state
  })

/** The same, but fails unless the run succeeded or did a part of the request. */
export const endOfRun = (doing: string, runId: RunId): Effect.Effect<RunState, Fault, RunEngine> =>
  Effect.gen(function* () {
    const state = yield* anyEndOfRun(doing, runId)
    if (state.status === "success" || state.status === "partial") return state
    return yield* outcomeFault(doing, runId, state)
  })
