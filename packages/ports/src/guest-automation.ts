import type { GuestObstacle, GuestOs, GuestStage, Json, MachineRef, RangeId, RunId, StepFacts, UserId } from "@rangewright/domain"
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
  /** Everything the stage needs; the same input again changes nothing. */
  readonly input: Json
  readonly verbose: boolean
  /** The run that it is a step of, and the keys of all its steps. */
  readonly run?: { readonly id: RunId; readonly steps: ReadonlySet<string> }
  /** The roles that were asked for by name; none: no names were given. */
  readonly onlyRoles?: readonly string[]
  /** Whose roles it uses, before the global ones; absent: only the global ones. */
  readonly by?: UserId
  /** Called with whole lines while the tool prints them, secrets masked. They are not in the result's `output` again. */
  readonly output?: (text: string) => Effect.Effect<void>
  /** Completes when the run is asked to stop. A tool that may be ended early is ended then, and the stage fails. */
  readonly cancelled?: Effect.Effect<void>
}

export interface GuestResult {
  readonly facts: StepFacts
  /** What the tool printed, whole lines, secrets masked. */
  readonly output: string
}

/** What happens inside machines: addresses, router set-up, domain stages, roles. */
export class GuestAutomation extends Context.Service<
  GuestAutomation,
  {
    /** True: the operator wants nothing done inside machines. Plans leave it out, and the range says so. */
    readonly leftOut?: boolean
    /**
     * What stands in the way of work inside the machines of a range when this user deploys it, as things are now: asked for each plan, which
     * is refused where it needs such work. Absent: nothing ever does.
     */
    readonly obstacles?: (rangeId: RangeId, by: UserId) => Effect.Effect<readonly GuestObstacle[], GuestFault>
    /** True: it speaks to machines over their networks, so that a range's router comes first. Otherwise the hypervisor carries it. */
    readonly overNetwork?: boolean
    /** Role names that it can run for this user; undefined when it cannot tell. */
    readonly roles: (userId: UserId) => Effect.Effect<ReadonlySet<string> | undefined, GuestFault>
    /** What is kept for a user on this host from run to run goes: files that roles left there, facts of machines. Absent: it keeps nothing. */
    readonly forget?: (userId: UserId) => Effect.Effect<void, GuestFault>
    /** The VMs of a range are gone: what is kept of them on this host goes, and what roles set there. Absent: it keeps nothing. */
    readonly forgetRange?: (rangeId: RangeId) => Effect.Effect<void, GuestFault>
    readonly dispatch: (task: GuestTask) => Effect.Effect<Dispatched, GuestFault>
    readonly settle: (task: GuestTask, token: Json) => Effect.Effect<GuestResult, GuestFault>
  }
>()("rangewright/GuestAutomation") {}
