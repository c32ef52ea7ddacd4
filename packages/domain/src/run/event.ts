import type { RunId, UserId, Vmid } from "../access/ids.ts"
import type { FaultIssue } from "../fault/fault.ts"
import type { Json } from "../plan/action.ts"
import type { Plan } from "../plan/plan.ts"
import type { RunSubject } from "./subject.ts"

/** The kinds of runs of ranges. */
export const rangeRunKinds = [
  "deploy",
  "destroy",
  "delete-range",
  "destroy-vm",
  "power",
  "auto-shutdown",
  "access",
  "snapshot-create",
  "snapshot-rollback",
  "snapshot-remove",
  "testing-start",
  "testing-stop",
  "testing-change",
  "testing-update",
  "kms-license",
  "kms-install",
  "anti-sandbox-enable",
  "anti-sandbox-disable",
] as const
export type RangeRunKind = (typeof rangeRunKinds)[number]
/** The kind of a run: one of `rangeRunKinds`, or the name of any other kind (`source-fetch`). */
export type RunKind = string

export const isRangeRunKind = (kind: RunKind): kind is RangeRunKind => (rangeRunKinds as readonly string[]).includes(kind)

/** `partial`: all required steps succeeded, but only some of the tolerated ones. */
export const runStatuses = ["running", "success", "partial", "failure", "aborted"] as const
export type RunStatus = (typeof runStatuses)[number]

/** The fixed facts of a run. Everything else is in its journal. */
export interface RunHead {
  readonly id: RunId
  readonly kind: RunKind
  readonly subject: RunSubject
  readonly by: UserId
  /** The request, for the record and for planning again: tags, limit, names. */
  readonly options: Json
  readonly startedAt: Date
}

/** What a settled step reports. */
export interface StepFacts {
  readonly address?: string
  readonly addresses?: readonly string[]
  /** Addresses that the guest reports and that are not its own (`judgeAddresses`). */
  readonly foreignAddresses?: readonly string[]
  readonly changed?: boolean
  readonly warnings?: readonly string[]
  /** Results for the caller of the run and for later steps. Visible to those who may see the run. */
  readonly data?: Json
}

/** The fault of a failed step. */
export interface StepFailure {
  readonly tag: string
  readonly kind: string
  readonly message: string
  readonly hint?: string
  /** Findings about parts of the input; absent when there are none. */
  readonly issues?: readonly FaultIssue[]
}

/**
 * One entry of a run's journal. The state of a run is a fold over these, and nothing else (`foldRun`); logs, progress and the event
 * stream are folds too.
 */
export type RunEvent =
  | { readonly type: "Planned"; readonly plan: Plan }
  /** Written before the effect: from now on it may have happened. */
  | { readonly type: "StepStarted"; readonly key: string; readonly attempt: number }
  /** The effect was accepted; `token` is what `settle` needs (a task id), null when nothing is to be waited for. */
  | { readonly type: "StepDispatched"; readonly key: string; readonly attempt: number; readonly token: Json }
  | { readonly type: "StepSettled"; readonly key: string; readonly facts: StepFacts }
  | { readonly type: "StepFailed"; readonly key: string; readonly failure: StepFailure; readonly final: boolean }
  /** Not run: something before it failed, or the run was cancelled. */
  | { readonly type: "StepSkipped"; readonly key: string; readonly because: string }
  /** The chosen VMID turned out to be taken by another; the steps of this machine use the new one. */
  | { readonly type: "Reallocated"; readonly machine: string; readonly from: Vmid; readonly to: Vmid }
  /** Text that a tool inside a stage printed; whole lines. */
  | { readonly type: "Output"; readonly key: string; readonly text: string }
  /** Progress in units of the step; `total` is undefined while unknown. Written now and then; the latest counts. */
  | { readonly type: "StepProgress"; readonly key: string; readonly done: number; readonly total: number | undefined }
  /**
   * The step, or without a `key` the run itself, waits: for the hypervisor, or for the run `behind` which it was opened. It continues
   * automatically. Journals of older versions have no keys.
   */
  | { readonly type: "Waiting"; readonly reason: string; readonly key?: string; readonly behind?: RunId }
  | { readonly type: "Continued"; readonly reason: string; readonly key?: string; readonly behind?: RunId }
  /** Another worker took the run over after a crash. */
  | { readonly type: "Resumed"; readonly generation: number }
  /** A notification of the end was sent (`to`: where to, without anything secret), or why it was not delivered. */
  | { readonly type: "Notified"; readonly to: string; readonly because?: string }
  | { readonly type: "CancelRequested"; readonly by: UserId }
  | { readonly type: "Ended"; readonly status: Exclude<RunStatus, "running">; readonly message: string }

/** A journal entry with its sequence number (from 1, without gaps) and time. */
export interface JournalEntry {
  readonly seq: number
  readonly at: Date
  readonly event: RunEvent
}
