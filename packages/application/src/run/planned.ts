import { CannotPlan, type PlanIssue } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { longWork } from "../operation/long-work.ts"

/** Plans, or fails with all reasons why it is impossible. `doing` completes "Cannot …". */
export const planned = <A>(doing: string, plan: () => Result.Result<A, readonly PlanIssue[]>): Effect.Effect<A, CannotPlan> =>
  Effect.flatMap(longWork(plan), (result) =>
    Effect.fromResult(Result.mapError(result, (issues) => new CannotPlan({ doing, issues }))),
  )
