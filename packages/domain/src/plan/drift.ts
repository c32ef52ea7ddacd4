import * as Result from "effect/Result"
import { outlineDeploy } from "./deploy.ts"
import { type DeployInput, wholeDeploy } from "./input.ts"
import type { PlanIssue } from "./issue.ts"
import type { Change, KeptMachine } from "./plan.ts"

/** How the observed state differs from the configuration. */
export interface Drift {
  readonly inSync: boolean
  /** What a deploy of everything would do, object by object, and what it would leave although it is not as configured. */
  readonly differences: readonly Change[]
  readonly kept: readonly KeptMachine[]
  /** Why a deploy would be refused now, and the notes of its plan. */
  readonly notes: readonly string[]
}

/** The differences that a whole deploy finds, taken from its plan so that the two never disagree. */
export const driftOf = (input: Omit<DeployInput, "choice">): Result.Result<Drift, readonly PlanIssue[]> =>
  Result.map(outlineDeploy({ ...input, choice: wholeDeploy }), ({ plan, hindered }) => {
    const differences = plan.changes.filter((c) => c.kind !== "none")
    const refused = hindered.map(({ message, hint }) => `a deploy would be refused now: ${message}. ${hint}`)
    return { inSync: differences.length === 0, differences, kept: plan.kept ?? [], notes: [...refused, ...plan.notes] }
  })
