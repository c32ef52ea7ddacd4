import type { Drift, Fault, Plan, Range, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RunRequest } from "./run-engine.ts"

/** Makes the plan of a request from what is wanted and what is there now. */
export class RunPlanner extends Context.Service<
  RunPlanner,
  {
    /**
     * Observes, chooses and plans. With `reserve`, VMIDs are reserved durably first; without it nothing at all is changed, and VMIDs of
     * new machines are those that would be reserved now.
     */
    readonly plan: (range: Range, request: RunRequest, by: UserId, reserve: boolean) => Effect.Effect<Plan, Fault>
    /** How what is there differs from the configuration; changes nothing. */
    readonly drift: (range: Range, by: UserId) => Effect.Effect<Drift, Fault>
  }
>()("rangewright/RunPlanner") {}
