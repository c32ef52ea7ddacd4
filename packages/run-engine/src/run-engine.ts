import type { Fault, JournalEntry, Plan, RunHead, RunId, RunState, UserId } from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { WorkRequest } from "./kind/run-kind.ts"

/** A run that was opened. `plan` is undefined while there is none: a run that waits for another one is planned later. */
export interface StartedRun extends RunRecord {
  readonly plan: Plan | undefined
}

/**
 * Plans and executes changes of ranges and of everything else that has a kind of run. A run survives its process: its journal is durable,
 * and `recover` continues what a dead worker left.
 */
export class RunEngine extends Context.Service<
  RunEngine,
  {
    /**
     * Plans the request (see `RunKindOf.request`), opens the run and returns at once; the run continues when its caller leaves. While
     * another run changes the subject, fails with `RangeBusy` or `SubjectBusy`, or returns that run where the kind says `join`. Behind an
     * aborted run of a range that still settles, the new run opens and begins when that one has ended.
     */
    readonly start: (asked: WorkRequest, by: UserId) => Effect.Effect<StartedRun, Fault>
    /** The owner of the run's subject. Undefined when only administrators, or those with access to the range, may see the run. */
    readonly owner: (run: RunHead) => Effect.Effect<UserId | undefined, Fault>
    /** Waits for the end. The facts of the steps contain their results. */
    readonly wait: (runId: RunId) => Effect.Effect<RunState, Fault>
    /**
     * Starts no new step and lets steps in flight settle. The range shows ABORTED at once and accepts its next run. False when the run was
     * over. Fails with `Conflict` past a point of no return.
     */
    readonly cancel: (runId: RunId, by: UserId) => Effect.Effect<boolean, Fault>
    /** The request of a new run that continues a failed or aborted one. */
    readonly resumption: (runId: RunId) => Effect.Effect<WorkRequest, Fault>
    /** Starts that run. */
    readonly resume: (runId: RunId, by: UserId) => Effect.Effect<RunHead, Fault>
    readonly state: (runId: RunId) => Effect.Effect<RunState, Fault>
    /** The journal after `afterSeq`, then live, until the run ends. A slow reader misses nothing: it reads from the journal. */
    readonly events: (runId: RunId, afterSeq: number) => Stream.Stream<JournalEntry, Fault>
    /**
     * Claims the unfinished runs that no living worker holds, and continues them; returns how many. When one cannot be claimed it tries all
     * others, then fails.
     */
    readonly recover: Effect.Effect<number, Fault>
  }
>()("rangewright/RunEngine") {}
