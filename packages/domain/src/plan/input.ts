import type { RangeId } from "../access/ids.ts"
import type { Grant } from "../access/user.ts"
import type { Disguises } from "../machine/disguise.ts"
import type { RangeConfig } from "../range/config/model.ts"
import type { TestingState } from "../range/range.ts"
import type { DeployTag, RoleSequence } from "./plan.ts"
import type { PlanSettings, PlanWorld } from "./world.ts"

/** What a deploy was asked to do. */
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
  /** Removes VMs that the configuration no longer names. */
  readonly prune: boolean
  /** Makes VMs anew that were made from another template than the configuration names. */
  readonly replace: boolean
}

/** A deploy of everything, as asked for without options: it removes nothing. */
export const wholeDeploy: DeployChoice = { tags: [], limit: "", onlyRoles: [], force: false, prune: false, replace: false }

/** Whether the choice leaves no machine and no part of a deploy out. */
export const isWhole = ({ tags, limit }: DeployChoice): boolean => tags.length === 0 && limit === ""

/** Whether the choice makes and removes VMs: the router, or the others. */
export const makesMachines = ({ tags }: DeployChoice, isRouter: boolean): boolean =>
  tags.length === 0 || tags.includes(isRouter ? "network" : "vm-deploy")

export interface DeployInput {
  readonly range: {
    readonly id: RangeId
    readonly number: number
    readonly testing: TestingState
    /** Absent: of no machine. */
    readonly disguises?: Disguises | undefined
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
