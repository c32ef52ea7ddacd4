import type { Drift, Fault, Plan, Range, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RunRequest } from "./request.ts"

/** What a plan is made for: to be looked at, for a run that is about to open, or for one that is open. */
export type PlanMoment = "preview" | "before opening" | "when open"

/** Makes the plan of a request from what is wanted and what is there now. */
export class RunPlanner extends Context.Service<
  RunPlanner,
  {
    /**
     * Observes, chooses and plans. A preview changes nothing at all, and VMIDs of new machines are those that would be reserved now; for a run
     * they are reserved durably first. A deploy is planned from what is stored, and once its run is open from what was stored when it opened.
     */
    readonly plan: (range: Range, request: RunRequest, by: UserId, moment: PlanMoment) => Effect.Effect<Plan, Fault>
    /** How the range differs from its configuration; changes nothing. */
    readonly drift: (range: Range, by: UserId) => Effect.Effect<Drift, Fault>
  }
>()("rangewright/RunPlanner") {}
