import type { RangeId, Vmid } from "../access/ids.ts"
import type { ResourceUse } from "../plan/plan.ts"
import type { MigrationAction, MigrationPhase } from "./action.ts"

export type MigrationDirection = "to-sdn" | "to-bridges"

/** One step of a migration. */
export interface MigrationStep {
  /** Unique in the plan and stable: the same installation gives the same keys (`move:210`). */
  readonly key: string
  /** For people: `Move LAB-dc (VM 210) to r7`. */
  readonly title: string
  readonly phase: MigrationPhase
  /** The range concerned; undefined: all, or the outside network. */
  readonly range: RangeId | undefined
  /** Name of the VM concerned. */
  readonly machine: string | undefined
  readonly action: MigrationAction
  /** Keys of the steps that must have settled before. */
  readonly after: readonly string[]
  readonly uses: readonly ResourceUse[]
  /** Expected seconds. */
  readonly estimate: number
}

/** Something that must be fixed before anything is changed. */
export interface MigrationBlocker {
  readonly code:
    | "range-number"
    | "bad-name"
    | "tag-range"
    | "zone-missing"
    | "zone-unfit"
    | "pending-sdn"
    | "pending-network"
    | "network-foreign"
    | "network-unfit"
    | "tag-taken"
    | "name-taken"
    | "no-quorum"
    | "node-offline"
    | "node-unfit"
    | "machine-locked"
    | "machine-pending"
    | "router-elsewhere"
    | "machine-unreadable"
    | "machines-in-doubt"
    | "machine-contradictory"
    | "machine-out-of-reach"
    | "host-silent"
    | "no-record"
  /** What stands in the way, with the names of the objects concerned. */
  readonly message: string
  /** The way out. */
  readonly hint: string
}

/** What happens to one machine. */
export interface MachineMove {
  readonly vmid: Vmid
  readonly name: string
  readonly node: string
  readonly range: RangeId | undefined
  readonly running: boolean
  /** The cards that move, before and after. */
  readonly nics: readonly { readonly nic: string; readonly before: string; readonly after: string }[]
}

/** A migration as data, with nothing left to choose. */
export interface MigrationPlan {
  readonly direction: MigrationDirection
  /** Why there is nothing to do; undefined: there is something. */
  readonly idle: "single-node" | "done" | undefined
  readonly blockers: readonly MigrationBlocker[]
  /** What to know before starting. */
  readonly warnings: readonly string[]
  /** What no API call can do, to be done by hand afterwards. */
  readonly byHand: readonly string[]
  readonly machines: readonly MachineMove[]
  /** Empty while there are blockers. */
  readonly steps: readonly MigrationStep[]
  /** Expected seconds, by the timing model. */
  readonly estimate: number
}
