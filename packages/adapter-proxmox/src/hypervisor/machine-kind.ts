import type { Vmid } from "@rangewright/domain"
import type { HypervisorFault, HypervisorNetwork } from "@rangewright/ports"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import type { TaskOutcome } from "../tasks/outcome.ts"
import type { Upid } from "../tasks/upid.ts"
import type { BootTimes } from "./boot-times.ts"
import type { Identity } from "./identity.ts"

export interface MachineOptions {
  /** Longest wait for a clone started by another call. */
  readonly cloneSeconds: number
  /** Longest wait for a guest's agent after a start. */
  readonly agentSeconds: number
}

/** What every kind of action needs. */
export interface MachineContext {
  readonly client: PveClient
  readonly identity: Identity
  readonly networks: Context.Service.Shape<typeof HypervisorNetwork>
  readonly bootTimes: BootTimes
  /** When this process started each machine, in milliseconds of the monotonic clock. */
  readonly startedAt: Map<Vmid, number>
  readonly options: MachineOptions
}

/** `done`: the effect is there. A task: it is running. No task: it is in progress, or waits for the guest, without a task that we know. */
export type Started = "done" | { readonly task: Upid | undefined }

/** How one kind of action is started, and how its effect is verified. */
export interface MachineKind<A> {
  readonly dispatch: (context: MachineContext, action: A) => Effect.Effect<Started, HypervisorFault>
  /**
   * `outcome` is the task's end, undefined when there was no task. Success means that the effect was seen; returns notes on what could not
   * be done.
   */
  readonly settle: (
    context: MachineContext,
    action: A,
    outcome: TaskOutcome | undefined,
  ) => Effect.Effect<readonly string[] | void, HypervisorFault>
}
