import type { RunId, Vmid } from "../access/ids.ts"
import type { Json } from "../plan/action.ts"
import type { Plan, Step } from "../plan/plan.ts"
import type { RunStatus, StepFacts, StepFailure } from "./event.ts"

export type StepPhase = "planned" | "started" | "dispatched" | "settled" | "failed" | "skipped"

/** One start of a step, and how it ended. */
export interface StepAttempt {
  readonly startedAt: Date
  /** Undefined while in progress. */
  readonly endedAt: Date | undefined
  readonly failure: StepFailure | undefined
}

/** The state of one step. */
export interface StepState {
  readonly step: Step
  readonly phase: StepPhase
  /** Number of starts. */
  readonly attempt: number
  /** Oldest first. */
  readonly attempts: readonly StepAttempt[]
  readonly token: Json | undefined
  readonly startedAt: Date | undefined
  readonly endedAt: Date | undefined
  readonly facts: StepFacts | undefined
  /** Reported progress; undefined when nothing was reported. */
  readonly progress: { readonly done: number; readonly total: number | undefined } | undefined
  readonly failure: StepFailure | undefined
  readonly skippedBecause: string | undefined
  /** A crash came while it was in progress. */
  readonly interrupted: boolean
}

/** What a run or one of its steps waits for: the hypervisor, or the run that blocks it. */
export interface Wait {
  readonly reason: string
  readonly blockedBy: RunId | undefined
}

/** From when to when a step, or without a key the run itself, waited. */
export interface PastWait extends Wait {
  readonly key: string | undefined
  readonly from: Date
  /** Undefined while in progress. */
  readonly to: Date | undefined
}

/** The state of a run: the fold of its journal. */
export interface RunState {
  readonly plan: Plan | undefined
  /** In the order of the plan. */
  readonly steps: ReadonlyMap<string, StepState>
  readonly status: RunStatus
  readonly message: string
  /** By the key of the step that waits, oldest first; undefined for the run itself. */
  readonly waits: ReadonlyMap<string | undefined, Wait>
  /** All waits, in the order in which they began. */
  readonly waited: readonly PastWait[]
  readonly cancelRequested: boolean
  readonly cancelRequestedAt: Date | undefined
  /** Whether a step that is a point of no return has started. */
  readonly irreversible: boolean
  /** Machines with a new VMID. */
  readonly reallocated: ReadonlyMap<string, Vmid>
  /** Who was notified of the end; with a reason: who could not be. */
  readonly notified: ReadonlyMap<string, string | undefined>
  readonly lastSeq: number
  readonly endedAt: Date | undefined
}

/**
 * Whether the run can be cancelled. Not past a point of no return, unless the run waits for something that may never come back: then there
 * must be a way to end it.
 */
export const isCancellable = ({ irreversible, waits }: RunState): boolean => !irreversible || waits.size > 0

/** Why the run waits; undefined while it does not. Of several waits the oldest. */
export const waitingFor = ({ waits }: RunState): string | undefined => {
  const [oldest] = waits.values()
  return oldest?.reason
}
