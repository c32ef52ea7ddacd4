import * as Result from "effect/Result"
import { planDeploy } from "./deploy.ts"
import { type DeployInput, wholeDeploy } from "./input.ts"
import type { PlanIssue } from "./issue.ts"
import type { Change, KeptMachine } from "./plan.ts"

/** How what is there differs from what the configuration says. */
export interface Drift {
  readonly inSync: boolean
  /** What a deploy of everything would do, object by object, and what it would leave although it is not as configured. */
  readonly differences: readonly Change[]
  readonly kept: readonly KeptMachine[]
  /** What a deploy would leave as it is, and what it could not tell. */
  readonly notes: readonly string[]
}

/** The differences that a whole deploy finds; the same facts as its plan, so that the two never disagree. */
export const driftOf = (input: Omit<DeployInput, "choice">): Result.Result<Drift, readonly PlanIssue[]> =>
  Result.map(planDeploy({ ...input, choice: wholeDeploy }), ({ changes, kept = [], notes }) => {
    const differences = changes.filter((c) => c.kind !== "none")
    return { inSync: differences.length === 0, differences, kept, notes }
  })
