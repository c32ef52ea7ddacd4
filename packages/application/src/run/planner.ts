import type { Drift, Fault, Plan, Range, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RunRequest } from "./request.ts"

/** The purpose of a plan: a preview, a run that is about to open, or a run that is open. */
export type PlanMoment = "preview" | "before opening" | "when open"

/** Plans a request from the desired state and the current state. */
export class RunPlanner extends Context.Service<
  RunPlanner,
  {
    /**
     * Observes, chooses and plans. A preview changes nothing at all, and VMIDs of new machines are those that would be reserved now; for a
     * run they are reserved durably first. A deploy is planned from the stored configuration, and once its run is open from the one that
     * was stored when it opened.
     */
    readonly plan: (range: Range, request: RunRequest, by: UserId, moment: PlanMoment) => Effect.Effect<Plan, Fault>
    /** How the range differs from its configuration; changes nothing. */
    readonly drift: (range: Range, by: UserId) => Effect.Effect<Drift, Fault>
  }
>()("rangewright/RunPlanner") {}
