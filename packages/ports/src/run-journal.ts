import {
  type Amounts,
  defineFault,
  type JournalEntry,
  type QuotaExceeded,
  type RangeId,
  type RangeNotFound,
  type RangeState,
  type RunEvent,
  type RunHead,
  type RunId,
  type RunStatus,
  type RunSubject,
  subjectText,
  type SubjectType,
  type UserId,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { JournalUnreadable, LeaseLost, StorageFault } from "./faults.ts"

/** A run and its status; everything else is in its journal. */
export interface RunRecord extends RunHead {
  readonly status: RunStatus
  readonly endedAt: Date | undefined
  /** The last sequence number of its journal. */
  readonly lastSeq: number
  /** Whether it has accepted a cancel. */
  readonly cancelRequested: boolean
  /** For a run of a range: the run of the installation, or cancelled run of the range, that must end before this one begins. */
  readonly blockedBy: RunId | undefined
  /** Its number in the order in which the runs of the store were opened, whatever their clocks said: the newest has the highest. */
  readonly ordinal: number
}

/** The runs of one kind about one subject. */
export type RunsOfAKind = Pick<RunHead, "subject" | "kind">

/** Selects runs; all given members must match. */
export interface RunFilter {
  readonly subject?: RunSubject
  readonly ranges?: readonly RangeId[]
  readonly types?: readonly SubjectType[]
  readonly kinds?: readonly RunHead["kind"][]
  readonly statuses?: readonly RunStatus[]
  readonly by?: UserId
  /** Started at this time or later. */
  readonly since?: Date
  /** Opened before the run with this ordinal, which need not exist any more. */
  readonly before?: number
  readonly limit: number
}

/** How many runs of a kind ended with a status. Both are texts as stored: a newer version may have written them. */
export interface EndedRuns {
  readonly kind: string
  readonly status: string
  readonly count: number
}

/** The subject has an unfinished run that does not give way. The engine turns this into a fault for callers. */
export class SubjectTaken extends defineFault("SubjectTaken", "conflict", (f: { readonly run: RunRecord }) => ({
  message: `Cannot start another run about ${subjectText(f.run.subject)}: run ${f.run.id} has not ended`,
})) {}

/**
 * Runs, their journals and their leases. An append is durable when it returns (fsync). A worker claims a run's lease; each claim increments
 * the generation. Appends are fenced: one with an older generation fails with `LeaseLost` and writes nothing.
 *
 * One clock measures the leases of all who share the store: the database server's, or else the monotonic clock of this host. The time of
 * day of a process does not matter.
 */
export class RunJournal extends Context.Service<
  RunJournal,
  {
    /**
     * Opens a run atomically, and returns it as stored. Fails with `SubjectTaken` when the subject has an unfinished run. A run of a range
     * that opens while one of the installation is unfinished records it in `blockedBy`: of the two, whichever opened later waits. One that
     * opens while a cancelled run of its range is unfinished records that one and replaces it: the cancelled run is no longer active and no
     * longer sets the range's state. Opening the same run again changes nothing.
     *
     * A run of a range sets the range's state; a deploy also sets `lastDeploymentAt` and records the configuration as the deployed one. The
     * range must exist; deleting it deletes its runs. For other subjects `rangeState` is ignored.
     *
     * With `systemLimits` a deploy fails with `QuotaExceeded` when its configuration takes more than its payer may use; they are the
     * default limits for users without any others.
     */
    readonly open: (
      run: RunHead,
      rangeState: RangeState | undefined,
      systemLimits?: Amounts,
    ) => Effect.Effect<RunRecord, QuotaExceeded | RangeNotFound | SubjectTaken | StorageFault>
    /** Appends events in order, with the next sequence numbers. Fails with `LeaseLost` when the run has ended or was deleted. */
    readonly append: (
      runId: RunId,
      generation: number,
      events: readonly RunEvent[],
      at: Date,
    ) => Effect.Effect<readonly JournalEntry[], LeaseLost | StorageFault>
    /**
     * Atomically writes `Ended` (the last entry), the run's status and the range's state, and releases the lease. Does nothing when the run
     * has ended or was deleted.
     */
    readonly close: (
      runId: RunId,
      generation: number,
      ended: Extract<RunEvent, { readonly type: "Ended" }>,
      rangeState: RangeState | undefined,
      at: Date,
    ) => Effect.Effect<void, LeaseLost | StorageFault>
    /**
     * Writes a cancel without the lease, and sets the range's state at once. Whether the run can be cancelled follows from its journal
     * (`isCancellable`), which the caller has read up to `lastSeq`. Writes nothing and returns false when the journal has grown since, or
     * the run is over or deleted.
     */
    readonly requestCancel: (
      runId: RunId,
      lastSeq: number,
      event: Extract<RunEvent, { readonly type: "CancelRequested" }>,
      at: Date,
      rangeState?: RangeState,
    ) => Effect.Effect<boolean, StorageFault>
    /**
     * Gives `owner` the run's lease for so many seconds. Returns the new generation (from 1); undefined while another owner's lease is in
     * force or when the run is over. A lease is in force for its seconds, and never longer than twice the requested ones, even when the
     * clock that measures it was set back or restarted.
     */
    readonly claim: (runId: RunId, owner: string, seconds: number) => Effect.Effect<number | undefined, StorageFault>
    /** False when this generation no longer has the lease: it was claimed by another or released, or the run is over. */
    readonly renew: (runId: RunId, generation: number, seconds: number) => Effect.Effect<boolean, StorageFault>
    readonly release: (runId: RunId, generation: number) => Effect.Effect<void, StorageFault>
    /** Entries after `afterSeq`, ascending and without gaps. Fails when one of them is missing or cannot be read. */
    readonly read: (
      runId: RunId,
      afterSeq: number,
      limit?: number,
    ) => Effect.Effect<readonly JournalEntry[], JournalUnreadable | StorageFault>
    readonly find: (runId: RunId) => Effect.Effect<RunRecord | undefined, StorageFault>
    /** The unfinished run of a subject; not a cancelled one that has given way to another. */
    readonly active: (subject: RunSubject) => Effect.Effect<RunRecord | undefined, StorageFault>
    /** All unfinished runs, newest first. Fails when one cannot be read, so that nobody takes it for ended. */
    readonly unfinished: Effect.Effect<readonly RunRecord[], StorageFault>
    /** The unfinished runs that can be read, for callers that do not need all; the others are logged. */
    readonly recoverable: Effect.Effect<readonly RunRecord[], StorageFault>
    /** Newest first. Empty `ranges`, `kinds`, `types` or `statuses` mean none. */
    readonly list: (filter: RunFilter) => Effect.Effect<readonly RunRecord[], StorageFault>
    /** Counts the runs that ended after this time, by kind and status. Combinations without runs are left out. */
    readonly endedAfter: (time: Date) => Effect.Effect<readonly EndedRuns[], StorageFault>
    /** Keeps the newest `keep` finished runs of this kind and subject; returns how many were deleted. */
    readonly prune: (of: RunsOfAKind, keep: number) => Effect.Effect<number, StorageFault>
    /**
     * Deletes the finished runs of a subject that was removed, with their journals. Not needed for ranges, whose runs are deleted with
     * them.
     */
    readonly forget: (subject: RunSubject) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/RunJournal") {}
