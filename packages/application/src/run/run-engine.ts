import type {
  DeployChoice,
  Drift,
  Fault,
  JournalEntry,
  Plan,
  Range,
  RunHead,
  RunId,
  RunState,
  UserId,
  Vmid,
} from "@rangewright/domain"
import type { RunRecord } from "@rangewright/ports"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { WorkRequest } from "./run-kind.ts"

/** What a deploy was asked to do. `force` also skips the refusals for testing mode; a running run is never overrun. */
export interface DeployOptions extends DeployChoice {
  readonly verbose: boolean
  /** Fingerprint of the plan that was confirmed (`planFingerprint`): the deploy does that or nothing. Absent: whatever is to be done. */
  readonly confirmed?: string
}

export type RunRequest =
  | { readonly kind: "deploy"; readonly options: DeployOptions }
  /** Stops and deletes all VMs of the range; the range stays. */
  | { readonly kind: "destroy" }
  /** Everything: VMs, network, pool, rights, then the range itself. */
  | { readonly kind: "delete-range"; readonly force: boolean }
  | { readonly kind: "destroy-vm"; readonly vmid: Vmid }
  /** `vmids` undefined: all VMs of the range. Off is a hard stop. */
  | { readonly kind: "power"; readonly on: boolean; readonly vmids: readonly Vmid[] | undefined }
  | { readonly kind: "auto-shutdown" }
  /** Makes the router's rules anew from those who have the range now. */
  | { readonly kind: "access" }

/** A run of a range that has begun, with its plan as far as it is made: one that waits for another run is planned when its turn comes. */
export interface StartedRun extends RunRecord {
  readonly plan: Plan | undefined
}

/**
 * Plans and runs changes, of ranges and of what else has a kind of run. A run survives the process: its journal is durable, and `recover` takes up what a dead worker left.
 */
export class RunEngine extends Context.Service<
  RunEngine,
  {
    /** The plan that the request would run now; changes nothing. */
    readonly preview: (range: Range, request: RunRequest, by: UserId) => Effect.Effect<Plan, Fault>
    /** How what is there differs from the configuration, also in testing mode; changes nothing. */
    readonly drift: (range: Range, by: UserId) => Effect.Effect<Drift, Fault>
    /**
     * Checks, plans, opens the run and returns at once; the work goes on. Fails with `RangeBusy` while another run changes the range; behind
     * one that was aborted and still settles it opens, and begins by itself when that has ended.
     */
    readonly start: (range: Range, request: RunRequest, by: UserId) => Effect.Effect<StartedRun, Fault>
    /**
     * The same for any other kind of run, by what `RunKindOf.request` made. The run goes on when its caller leaves. While another run
     * changes the subject it fails with `SubjectBusy`, or gives that run where the kind says `join`.
     */
    readonly startWork: (asked: WorkRequest, by: UserId) => Effect.Effect<RunHead, Fault>
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
    /** Claims the unfinished runs that no living worker holds and goes on with them; returns how many. */
    readonly recover: Effect.Effect<number, Fault>
  }
>()("rangewright/RunEngine") {}
