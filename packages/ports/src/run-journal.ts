import type {
  JournalEntry,
  RangeBusy,
  RangeState,
  RunEvent,
  RunHead,
  RunId,
  RunStatus,
  RunSubject,
  SubjectBusy,
  SubjectType,
  UserId,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { LeaseLost, StorageFault } from "./faults.ts"

/** A run with where it stands; everything else is in its journal. */
export interface RunRecord extends RunHead {
  readonly status: RunStatus
  readonly endedAt: Date | undefined
  /** Last sequence number of its journal. */
  readonly lastSeq: number
  /** Whether it was asked to stop. */
  readonly cancelRequested: boolean
  /** The run that a run of a range was opened behind, one of the installation or a cancelled one of the range: it begins when that has ended. */
  readonly behind: RunId | undefined
}

/**
 * Runs and their journals. An append is durable when it returns (fsync). Appends are fenced: one with an older generation than the
 * run's lease fails with `LeaseLost` and writes nothing.
 */
export class RunJournal extends Context.Service<
  RunJournal,
  {
    /**
     * Opens a changing run, atomically. A subject has at most one unfinished run: else `RangeBusy` for a range, `SubjectBusy` for another.
     * A run of a range that opens while one of the installation is unfinished keeps which one: so of the two, whichever opened later waits.
     * One that opens while a cancelled one of its range is unfinished keeps that, and takes its place: the cancelled one is active no more,
     * and does not show in the range's state.
     * Opening the same run again changes nothing. Gives the run as it is stored.
     *
     * With a range's run the range's state is set; a deploy stamps its `lastDeploymentAt`, and keeps its configuration as the
     * deployed one. The range must be stored, and takes its runs
     * along when it is removed. Other subjects have no state here: `rangeState` means nothing to them.
     */
    readonly open: (
      run: RunHead,
      rangeState: RangeState | undefined,
    ) => Effect.Effect<RunRecord, RangeBusy | SubjectBusy | StorageFault>
    /** Adds events in order, with the next sequence numbers. A run that has ended or is gone takes none: `LeaseLost`. */
    readonly append: (
      runId: RunId,
      generation: number,
      events: readonly RunEvent[],
      at: Date,
    ) => Effect.Effect<readonly JournalEntry[], LeaseLost | StorageFault>
    /**
     * Writes `Ended` (last entry), the run's status and the range's state, atomically, and gives the lease back. Ending a run that has
     * ended, or that went with its range, changes nothing.
     */
    readonly close: (
      runId: RunId,
      generation: number,
      ended: Extract<RunEvent, { readonly type: "Ended" }>,
      rangeState: RangeState | undefined,
      at: Date,
    ) => Effect.Effect<void, LeaseLost | StorageFault>
    /**
     * Requests a cancel without holding the lease, and shows it in the range's state at once. False when the run is over. Asking again
     * changes nothing.
     */
    readonly requestCancel: (
      runId: RunId,
      event: Extract<RunEvent, { readonly type: "CancelRequested" }>,
      at: Date,
      rangeState?: RangeState,
    ) => Effect.Effect<boolean, StorageFault>
    /** Entries after `seq`, ascending. */
    readonly read: (runId: RunId, afterSeq: number, limit?: number) => Effect.Effect<readonly JournalEntry[], StorageFault>
    readonly find: (runId: RunId) => Effect.Effect<RunRecord | undefined, StorageFault>
    /** The unfinished run of a subject, which another one must not pass; a cancelled one that another was opened behind is none. */
    readonly active: (subject: RunSubject) => Effect.Effect<RunRecord | undefined, StorageFault>
    readonly unfinished: Effect.Effect<readonly RunRecord[], StorageFault>
    /** Newest first. Empty `kinds` or `types` mean none. */
    readonly list: (filter: {
      readonly subject?: RunSubject
      readonly types?: readonly SubjectType[]
      readonly by?: UserId
      readonly kinds?: readonly RunHead["kind"][]
      readonly limit: number
      readonly before?: Date
    }) => Effect.Effect<readonly RunRecord[], StorageFault>
    /** Keeps the newest `keep` finished runs of each kind for each subject; returns how many went. */
    readonly prune: (keep: number) => Effect.Effect<number, StorageFault>
    /** Removes the finished runs of a subject that is gone, with their journals. A range takes its runs along by itself. */
    readonly forget: (subject: RunSubject) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/RunJournal") {}

/** Who works on a run. The generation goes up with each claim, so that a stale worker's writes are refused. */
export class Lease extends Context.Service<
  Lease,
  {
    /** The new generation (from 1), or undefined while another owner's lease is in force, and when the run is over. */
    readonly claim: (runId: RunId, owner: string, now: Date, seconds: number) => Effect.Effect<number | undefined, StorageFault>
    /** False when the generation is no longer in force: claimed by another, given back, or the run is over. */
    readonly renew: (runId: RunId, generation: number, now: Date, seconds: number) => Effect.Effect<boolean, StorageFault>
    readonly release: (runId: RunId, generation: number) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Lease") {}
