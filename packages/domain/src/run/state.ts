import type { RunId, Vmid } from "../access/ids.ts"
import type { Json } from "../plan/action.ts"
import type { Plan, Step } from "../plan/plan.ts"
import type { RunStatus, StepFacts, StepFailure } from "./event.ts"

export type StepPhase = "planned" | "started" | "dispatched" | "settled" | "failed" | "skipped"

/** Where one step stands. */
export interface StepState {
  readonly step: Step
  readonly phase: StepPhase
  /** How often it was started. */
  readonly attempt: number
  readonly token: Json | undefined
  readonly startedAt: Date | undefined
  readonly endedAt: Date | undefined
  readonly facts: StepFacts | undefined
  /** How far it says it is; undefined when it has said nothing. */
  readonly progress: { readonly done: number; readonly total: number | undefined } | undefined
  readonly failure: StepFailure | undefined
  readonly skippedBecause: string | undefined
}

/** What a run or one of its steps waits for: a world that is away, or the run `behind` which it was opened. */
export interface Wait {
  readonly reason: string
  readonly behind: RunId | undefined
}

/** Where a run stands: the fold of its journal. */
export interface RunState {
  readonly plan: Plan | undefined
  /** In the order of the plan. */
  readonly steps: ReadonlyMap<string, StepState>
  readonly status: RunStatus
  readonly message: string
  /** By the key of the step that waits, oldest first; undefined for the run itself. */
  readonly waits: ReadonlyMap<string | undefined, Wait>
  readonly cancelRequested: boolean
  readonly cancelRequestedAt: Date | undefined
  /** Whether a step has begun that is a point of no return. */
  readonly pastReturn: boolean
  /** Machines whose VMID was given anew. */
  readonly reallocated: ReadonlyMap<string, Vmid>
  readonly lastSeq: number
  readonly endedAt: Date | undefined
}

/**
 * Whether a cancel is taken. Past a point of no return it is not, unless the run waits for what may never come back: then there must be a
 * way to end it.
 */
export const isCancellable = ({ pastReturn, waits }: RunState): boolean => !pastReturn || waits.size > 0

/** Why the run waits; undefined while it does not. Of several waits the oldest. */
export const waitingFor = ({ waits }: RunState): string | undefined => {
  const [oldest] = waits.values()
  return oldest?.reason
}
