import type {
  GuestObstacle,
  GuestOs,
  GuestStage,
  Json,
  MachineRef,
  RangeId,
  RecordId,
  RunId,
  StepFacts,
  UserId,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { GuestFault } from "./faults.ts"
import type { Dispatched } from "./hypervisor.ts"

export interface GuestTask {
  readonly machine: MachineRef
  /** Name of the VM. */
  readonly name: string
  readonly os: GuestOs
  readonly stage: GuestStage
  /** Everything the stage needs; running it again with the same input changes nothing. */
  readonly input: Json
  readonly verbose: boolean
  /** The run that the stage is a step of, and the keys of all its steps. */
  readonly run?: { readonly id: RunId; readonly steps: ReadonlySet<string> }
  /** The roles requested by name; empty: none were named. */
  readonly onlyRoles?: readonly string[]
  /** The user whose roles take precedence over the global ones; absent: only global roles. */
  readonly by?: UserId
  /** Called with whole lines as the tool prints them, secrets masked. They are not repeated in the result's `output`. */
  readonly output?: (text: string) => Effect.Effect<void>
  /** Completes when the run is asked to stop. A tool that may be ended early is ended then, and the stage fails. */
  readonly cancelled?: Effect.Effect<void>
}

export interface GuestResult {
  readonly facts: StepFacts
  /** The tool's output in whole lines, secrets masked. */
  readonly output: string
}

/** Work inside machines: addresses, router setup, domain stages, roles. */
export class GuestAutomation extends Context.Service<
  GuestAutomation,
  {
    /** True if the operator wants no work inside machines. Plans leave it out, and the range says so. */
    readonly leftOut?: boolean
    /**
     * What currently blocks work inside the machines of a range when this user deploys it. Evaluated for each plan; a plan that needs such
     * work is refused. Absent: nothing ever blocks it.
     */
    readonly obstacles?: (rangeId: RangeId, by: UserId) => Effect.Effect<readonly GuestObstacle[], GuestFault>
    /** True if it reaches machines over their networks, so that a range's router comes first. Otherwise it goes through the hypervisor. */
    readonly overNetwork?: boolean
    /** Names of the roles that it can run for this user; undefined if unknown. */
    readonly roles: (userId: UserId) => Effect.Effect<ReadonlySet<string> | undefined, GuestFault>
    /** Names of those roles that are the user's own, which others do not know of. Absent: all may be. */
    readonly ownRoles?: (userId: UserId) => Effect.Effect<ReadonlySet<string>, GuestFault>
    /** Deletes what is kept on this host for a user between runs: files left by roles, machine facts. Absent: it keeps nothing. */
    readonly forget?: (userId: UserId) => Effect.Effect<void, GuestFault>
    /**
     * Deletes what is kept on this host for the VMs of a range, including what roles set; called once the VMs are gone. With the record ID of
     * a range that is itself removed, also the files that roles left for their next run in it. Absent: it keeps nothing.
     */
    readonly forgetRange?: (rangeId: RangeId, removed?: RecordId) => Effect.Effect<void, GuestFault>
    readonly dispatch: (task: GuestTask) => Effect.Effect<Dispatched, GuestFault>
    readonly settle: (task: GuestTask, token: Json) => Effect.Effect<GuestResult, GuestFault>
  }
>()("rangewright/GuestAutomation") {}
