import type { Fault, JournalEntry, Plan, RunHead, RunId, RunState, UserId } from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { WorkRequest } from "./kind/run-kind.ts"

/** A run that has begun, with its plan as far as it is made: one that waits for another run is planned when its turn comes. */
export interface StartedRun extends RunRecord {
  readonly plan: Plan | undefined
}

/**
 * Plans and runs changes, of ranges and of what else has a kind of run. A run survives the process: its journal is durable, and `recover` takes up what a dead worker left.
 */
export class RunEngine extends Context.Service<
  RunEngine,
  {
    /**
     * Plans what `RunKindOf.request` made, opens the run and returns at once; the run continues when its caller leaves. While another run changes the
     * subject it fails with `RangeBusy` or `SubjectBusy`, or returns that run where the kind says `join`. Behind a run of a range that was
     * aborted and still settles it opens, and begins when that has ended.
     */
    readonly start: (asked: WorkRequest, by: UserId) => Effect.Effect<StartedRun, Fault>
    /** Whose a run's subject is, beside administrators and whoever has the range; undefined: nobody's. */
    readonly owner: (run: RunHead) => Effect.Effect<UserId | undefined, Fault>
    /** Waits for the end. What its steps found out is in their facts. */
    readonly wait: (runId: RunId) => Effect.Effect<RunState, Fault>
    /**
     * Starts no new step and lets what is in flight settle; the range shows ABORTED at once, and takes its next run. False when the run was over. Fails with
     * `Conflict` when the run is past a point of no return.
     */
    readonly cancel: (runId: RunId, by: UserId) => Effect.Effect<boolean, Fault>
    /** A new run that repeats a failed or aborted one from where it stands. */
    readonly resume: (runId: RunId, by: UserId) => Effect.Effect<RunHead, Fault>
    readonly state: (runId: RunId) => Effect.Effect<RunState, Fault>
    /** The journal after `afterSeq`, then live, until the run ends. A slow reader misses nothing: it reads from the journal. */
    readonly events: (runId: RunId, afterSeq: number) => Stream.Stream<JournalEntry, Fault>
    /** Claims the unfinished runs that no living worker holds and continues them; returns how many. Fails when one could not be claimed, after all others. */
    readonly recover: Effect.Effect<number, Fault>
  }
>()("rangewright/RunEngine") {}
