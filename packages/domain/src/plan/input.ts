import type { RangeId } from "../access/ids.ts"
import type { Grant } from "../access/user.ts"
import type { Disguises } from "../machine/disguise.ts"
import type { RangeConfig } from "../range/config/model.ts"
import type { TestingState } from "../range/range.ts"
import type { DeployTag, RoleSequence } from "./plan.ts"
import type { PlanSettings, PlanWorld } from "./world.ts"

/** The options of a deploy. */
export interface DeployChoice {
  /** Empty: everything. */
  readonly tags: readonly DeployTag[]
  /** Host pattern as Ansible reads it; empty: all machines. It restricts cloning and removing too. */
  readonly limit: string
  /** Empty: all roles. */
  readonly onlyRoles: readonly string[]
  /** Runs stages inside machines again even if nothing changed. */
  readonly force: boolean
  /** Absent: what the configuration says. */
  readonly roleSequence?: RoleSequence
  /** Removes VMs that the configuration no longer names. */
  readonly prune: boolean
  /** Creates VMs again that were made from another template than the configuration names. */
  readonly replace: boolean
}

/** A deploy of everything, as requested without options: it removes nothing. */
export const wholeDeploy: DeployChoice = { tags: [], limit: "", onlyRoles: [], force: false, prune: false, replace: false }

/** Whether the choice covers every machine and every part of a deploy. */
export const isWhole = ({ tags, limit }: DeployChoice): boolean => tags.length === 0 && limit === ""

/** Whether the choice creates and removes VMs: the router, or the others. */
export const makesMachines = ({ tags }: DeployChoice, isRouter: boolean): boolean =>
  tags.length === 0 || tags.includes(isRouter ? "network" : "vm-deploy")

export interface DeployInput {
  readonly range: {
    readonly id: RangeId
    readonly number: number
    readonly testing: TestingState
    /** Absent: no machine is disguised. */
    readonly disguises?: Disguises | undefined
    /** True: it was taken over from an older service. Absent: we created it. */
    readonly takenOver?: boolean
  }
  readonly config: RangeConfig
  /** Everybody who has the range, by any path. */
  readonly grants: readonly Grant[]
  readonly settings: PlanSettings
  readonly world: PlanWorld
  readonly choice: DeployChoice
}
