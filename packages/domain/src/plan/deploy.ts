import * as Result from "effect/Result"
import type { RangeId, Vmid } from "../access/ids.ts"
import type { Grant } from "../access/user.ts"
import type { RangeConfig } from "../range/config/model.ts"
import type { TestingState } from "../range/range.ts"
import type { PlanIssue } from "./issue.ts"
import type { DeployTag, Plan } from "./plan.ts"
import type { PlanSettings, PlanWorld } from "./world.ts"

/** What a deploy was asked to do (contract B 5.6). */
export interface DeployChoice {
  /** Empty: everything. */
  readonly tags: readonly DeployTag[]
  /** Host pattern as Ansible reads it; empty: all machines. It restricts cloning and removing too. */
  readonly limit: string
  /** Empty: all roles. */
  readonly onlyRoles: readonly string[]
  /** Runs stages inside machines again although nothing changed. */
  readonly force: boolean
}

export interface DeployInput {
  readonly range: { readonly id: RangeId; readonly number: number; readonly testing: TestingState }
  readonly config: RangeConfig
  /** Everybody who has the range, by every path. */
  readonly grants: readonly Grant[]
  readonly settings: PlanSettings
  readonly world: PlanWorld
  readonly choice: DeployChoice
}

/**
 * The plan that makes the world what the configuration says, or every reason why there is none. Pure and deterministic. No difference,
 * no steps; nothing that is not ours is touched.
 */
export const planDeploy = (_input: DeployInput): Result.Result<Plan, readonly PlanIssue[]> =>
  Result.fail([{ code: "no-node", message: "the planner is being written" }])

/** Names of the machines that the configuration asks for, the router first: each needs a reserved VMID before `planDeploy`. */
export const machineNames = (_rangeId: RangeId, _config: RangeConfig): readonly string[] => []

/** Templates whose detail `planDeploy` wants in `world.details`, because machines will be cloned from them. */
export const templatesToRead = (_input: DeployInput): readonly Vmid[] => []
