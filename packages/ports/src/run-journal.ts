import {
  defineFault,
  type JournalEntry,
  type RangeNotFound,
  type RangeState,
  type RunEvent,
  type RunHead,
  type RunId,
  type RunStatus,
  type RunSubject,
  subjectText,
  type SubjectType,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { JournalUnreadable, LeaseLost, StorageFault } from "./faults.ts"

/** A run with where it stands; everything else is in its journal. */
export interface RunRecord extends RunHead {
  readonly status: RunStatus
  readonly endedAt: Date | undefined
  /** Last sequence number of its journal. */
  readonly lastSeq: number
  /** Whether it has taken a cancel. */
  readonly cancelRequested: boolean
  /** The run that a run of a range was opened behind, one of the installation or a cancelled one of the range: it begins when that has ended. */
  readonly behind: RunId | undefined
}

/** The subject has an unfinished run that no other one passes. The engine, which knows the kinds of runs, says so to callers. */
export class SubjectTaken extends defineFault("SubjectTaken", "conflict", (f: { readonly run: RunRecord }) => ({
  message: `Cannot open another run about ${subjectText(f.run.subject)}: run ${f.run.id} has not ended`,
})) {}

/**
 * Runs, their journals, and who works on them. An append is durable when it returns (fsync). A worker claims a run's lease; the generation
 * goes up with each claim. Appends are fenced: one with an older generation fails with `LeaseLost` and writes nothing.
 *
 * How long a lease is in force is measured by one clock for all who share the store: the server's where there is one, else one of this host
 * that nobody sets. The time of day in a process has no say.
 */
export class RunJournal extends Context.Service<
  RunJournal,
  {
    /**
     * Opens a changing run, atomically. A subject has at most one unfinished run: else `SubjectTaken`.
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
    ) => Effect.Effect<RunRecord, RangeNotFound | SubjectTaken | StorageFault>
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
     * Writes a cancel without holding the lease, and shows it in the range's state at once. Whether a run takes one follows from its journal
     * (`isCancellable`), which the caller has read up to `lastSeq`. False, with nothing written, when the journal has grown since, and when
     * the run is over or gone.
     */
    readonly requestCancel: (
      runId: RunId,
      lastSeq: number,
      event: Extract<RunEvent, { readonly type: "CancelRequested" }>,
      at: Date,
      rangeState?: RangeState,
    ) => Effect.Effect<boolean, StorageFault>
    /**
     * Makes `owner` the worker of a run for so many seconds: the new generation (from 1), or undefined while another owner's lease is in
     * force, and when the run is over. A lease is in force for its seconds, and for twice those that are asked for at most: also when the
     * clock that measures it was set back, or has begun anew.
     */
    readonly claim: (runId: RunId, owner: string, seconds: number) => Effect.Effect<number | undefined, StorageFault>
    /** False when the generation is no longer in force: claimed by another, given back, or the run is over. */
    readonly renew: (runId: RunId, generation: number, seconds: number) => Effect.Effect<boolean, StorageFault>
    readonly release: (runId: RunId, generation: number) => Effect.Effect<void, StorageFault>
    /** Entries after `seq`, ascending. */
    readonly read: (
      runId: RunId,
      afterSeq: number,
      limit?: number,
    ) => Effect.Effect<readonly JournalEntry[], JournalUnreadable | StorageFault>
    readonly find: (runId: RunId) => Effect.Effect<RunRecord | undefined, StorageFault>
    /** The unfinished run of a subject, which another one must not pass; a cancelled one that another was opened behind is none. */
    readonly active: (subject: RunSubject) => Effect.Effect<RunRecord | undefined, StorageFault>
    /** All unfinished runs, newest first. Fails when one of them cannot be read: nobody may take it for one that has ended. */
    readonly unfinished: Effect.Effect<readonly RunRecord[], StorageFault>
    /** The unfinished runs that can be read, for what does not need them all; the log names the others. */
    readonly recoverable: Effect.Effect<readonly RunRecord[], StorageFault>
    /** Newest first. Empty `kinds` or `types` mean none. */
    readonly list: (filter: {
      readonly subject?: RunSubject
      readonly types?: readonly SubjectType[]
      readonly kinds?: readonly RunHead["kind"][]
      readonly limit: number
    }) => Effect.Effect<readonly RunRecord[], StorageFault>
    /** Keeps the newest `keep` finished runs of each kind for each subject; returns how many went. */
    readonly prune: (keep: number) => Effect.Effect<number, StorageFault>
    /** Removes the finished runs of a subject that is gone, with their journals. A range takes its runs along by itself. */
    readonly forget: (subject: RunSubject) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/RunJournal") {}
