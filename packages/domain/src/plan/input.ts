import type { RangeId } from "../access/ids.ts"
import type { Grant } from "../access/user.ts"
import type { RangeConfig } from "../range/config/model.ts"
import type { TestingState } from "../range/range.ts"
import type { DeployTag, RoleSequence } from "./plan.ts"
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
  /** Absent: what the configuration says. */
  readonly roleSequence?: RoleSequence
}

export interface DeployInput {
  readonly range: {
    readonly id: RangeId
    readonly number: number
    readonly testing: TestingState
    /** Absent: we made it. */
    readonly takenOver?: boolean
  }
  readonly config: RangeConfig
  /** Everybody who has the range, by every path. */
  readonly grants: readonly Grant[]
  readonly settings: PlanSettings
  readonly world: PlanWorld
  readonly choice: DeployChoice
}
