import type { RangeId, Vmid } from "../access/ids.ts"
import type { Action } from "./action.ts"

/** Tags that select parts of a deploy. */
export const deployTags = [
  "access-control",
  "additional-tools",
  "allow-share-access",
  "assign-ip",
  "custom-choco",
  "custom-groups",
  "dcs",
  "debug",
  "dns-rewrites",
  "domain-join",
  "install-office",
  "install-visual-studio",
  "linux-packages",
  "network",
  "nexus",
  "share",
  "sysprep",
  "user-defined-roles",
  "vm-deploy",
  "windows",
] as const
export type DeployTag = (typeof deployTags)[number]

/** A resource that only so many may use at once: `clone@<storage>`, `boot@<node>`, `automation`. */
export interface ResourceUse {
  readonly resource: string
  /** How many may use it at once. */
  readonly slots: number
  /** It belongs to the service's host: each instance has its own. Absent: all instances share it. */
  readonly ofHost?: true
}

export interface Step {
  /** Unique in the plan and stable: the same desired and observed state give the same keys (`clone:LAB-dc`). */
  readonly key: string
  /** For people: `Clone LAB-dc from win2022-server-x64-template`. Also the task name in the log. */
  readonly title: string
  /** The tag this step belongs to; undefined for steps every deploy needs. */
  readonly tag: DeployTag | undefined
  /** Name of the VM concerned. */
  readonly machine: string | undefined
  readonly action: Action
  /** Keys of the steps that must have succeeded before. */
  readonly after: readonly string[]
  /** Keys of the steps that must be over before, however they ended. */
  readonly behind?: readonly string[]
  readonly uses: readonly ResourceUse[]
  /** Expected seconds: from earlier runs, or by the timing model. */
  readonly estimate: number
  /** The name under which its duration is remembered (`lessonsOf`). Absent: it is not. */
  readonly timedAs?: string
  /** The estimate comes from earlier runs of this installation. Absent: from the timing model. */
  readonly learned?: true
  /** Its failure does not stop what comes after it, nor fail the run, which then ends as `partial`. */
  readonly tolerated?: boolean
  /** Once it has begun, the run only goes forward: cancelling is refused, because a half-done state is worse than either end. */
  readonly pointOfNoReturn?: boolean
}

/** `keep`: it is not as configured, but stays. */
export type ChangeKind = "create" | "change" | "replace" | "remove" | "keep" | "none"

/** What a plan does to one object, for people. */
export interface Change {
  readonly kind: ChangeKind
  readonly object: string
  readonly reasons: readonly string[]
}

/** Where a VM goes and why. */
export interface Placement {
  readonly machine: string
  readonly node: string
  readonly reason: string
}

/** What was chosen for a VM before anything runs. */
export interface Allocation {
  readonly machine: string
  readonly vmid: Vmid
  readonly node: string
  readonly address: string | undefined
}

/**
 * The order in which the roles of machines run. `file`: when all other work in machines is over, one after another as in the file, after
 * the roles they depend on. `graph`: as soon as the roles they depend on are done.
 */
export const roleSequences = ["file", "graph"] as const
export type RoleSequence = (typeof roleSequences)[number]

/** How the roles of a plan are ordered, and what the graph saves, or would save, compared with the file's order. */
export interface RolesPlan {
  readonly sequence: RoleSequence
  /** By the estimates of the steps. */
  readonly graphSavesSeconds: number
}

/** A VM of ours that a deploy leaves as it is although the configuration says otherwise, because removing it was not asked for. */
export interface KeptMachine {
  readonly machine: string
  readonly vmid: Vmid
  /** The template it was made from and the configured one; absent: the configuration names no such machine. */
  readonly template?: { readonly made: string; readonly wanted: string }
}

/** A plan is data, with nothing left to choose. No difference, no steps. */
export interface Plan {
  /** The range that it changes; undefined when it is about something else. */
  readonly rangeId: RangeId | undefined
  readonly steps: readonly Step[]
  readonly changes: readonly Change[]
  readonly placements: readonly Placement[]
  readonly allocations: readonly Allocation[]
  /** Absent: none. */
  readonly kept?: readonly KeptMachine[]
  /** Notes for the reader: stages left out, warnings of the configuration. */
  readonly notes: readonly string[]
  /** Length of the critical path in seconds, by the estimates of the steps. */
  readonly criticalPathSeconds: number
  /** The order of roles; absent when none runs. */
  readonly roles?: RolesPlan
}
