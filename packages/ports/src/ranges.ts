import type {
  Activation,
  Amounts,
  Exhausted,
  Grant,
  ObservedMachine,
  QuotaExceeded,
  Range,
  RangeDraft,
  RangeExists,
  RangeId,
  RangeNotFound,
  RecordId,
  RouterInspection,
  UserId,
  UserNotFound,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { ConfigChanged, ConfigWrite } from "./config-write.ts"
import type { StorageFault } from "./faults.ts"

export interface NewRange extends RangeDraft {
  /** Undefined: the lowest free one. */
  readonly number: number | undefined
  readonly reservedNumbers: readonly number[]
  readonly config: string
  readonly owners: readonly UserId[]
  /** Limits of who has none else; absent: there are none. */
  readonly systemLimits?: Amounts
}

/** Absent keys keep their value. */
export type RangeChange = Partial<Pick<Range, "name" | "description" | "purpose" | "testing" | "disguises" | "autoShutdown">>

/** A VM of a range as the store last saw it; `address` is the guest's. */
export interface RangeMachine extends ObservedMachine {
  readonly rangeId: RangeId
  readonly address: string | undefined
  /** Absent: none. */
  readonly foreignAddresses?: readonly string[]
  readonly isRouter: boolean
  /** The licence of its Windows when the service looked last; absent: nothing is known. */
  readonly activation?: Activation
  /** Since when the hypervisor's list lacks it, so that all else is as it was last seen. Absent: it does not. */
  readonly missingSince?: Date
}

/** A range with its VMs, as plain rows: what lists show. */
export interface RangeOverview {
  readonly range: Range
  readonly machines: readonly RangeMachine[]
}

/** A look at a range's router, and when it was made. */
export interface KeptInspection extends RouterInspection {
  readonly at: Date
}

/** Ranges, their configurations and who may use them. What must be atomic is one method. */
export class Ranges extends Context.Service<
  Ranges,
  {
    readonly find: (id: RangeId) => Effect.Effect<Range | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<Range | undefined, StorageFault>
    /** Ascending by number. `for` narrows to ranges this user has, directly or by a group, `rangeId` to one: both together tell in one read whether the user has it. */
    readonly list: (filter?: {
      readonly for?: UserId
      readonly rangeId?: RangeId
    }) => Effect.Effect<readonly Range[], StorageFault>
    /** Hot path: ranges with their machines, ascending by number. It shows: a damaged record is left out of it, and fails `list`. */
    readonly overview: (filter: {
      readonly for?: UserId
      readonly rangeId?: RangeId
    }) => Effect.Effect<readonly RangeOverview[], StorageFault>
    /** Goes up whenever anything that `overview` shows, a configuration, a grant or who is in a group has changed; cheap. Comparing it proves that a rendered answer is still true. */
    readonly revision: Effect.Effect<number, StorageFault>
    /** `RangeExists` also for an ID that differs from another one only in case. `UserNotFound` for an owner or creator that does not exist, `QuotaExceeded` where the first owner may have no more ranges. */
    readonly create: (
      range: NewRange,
    ) => Effect.Effect<Range, RangeExists | Exhausted | QuotaExceeded | UserNotFound | StorageFault>
    readonly change: (id: RangeId, change: RangeChange) => Effect.Effect<Range, RangeNotFound | StorageFault>
    /** Keeps until when it is wanted on; never earlier than it was. */
    readonly stayOn: (id: RangeId, until: Date) => Effect.Effect<Range, RangeNotFound | StorageFault>
    /** Removes the range with its configuration, grants, machines, runs and reservations, and from all groups. */
    readonly remove: (id: RangeId) => Effect.Effect<void, StorageFault>
    /** The bytes as they were uploaded (UTF-8 text), and when. */
    readonly config: (id: RangeId) => Effect.Effect<{ readonly text: string; readonly updatedAt: Date } | undefined, StorageFault>
    /** The text with which the newest deploy opened, or an older service made the range; before the first one, what is stored. */
    readonly deployedConfig: (id: RangeId) => Effect.Effect<string | undefined, StorageFault>
    readonly setConfig: (
      id: RangeId,
      text: string,
      write?: ConfigWrite,
    ) => Effect.Effect<void, ConfigChanged | RangeNotFound | StorageFault>
    /** Every path by which users have the range, ascending by user id, then by access type: one row for a direct grant, and one for each group. */
    readonly grants: (id: RangeId) => Effect.Effect<readonly Grant[], StorageFault>
    /** Every path by which a user has ranges, by number of the range, then by access type. */
    readonly grantsOf: (userId: UserId) => Effect.Effect<readonly (Grant & { readonly rangeNumber: number })[], StorageFault>
    /** False when the direct grant was there already. */
    readonly grant: (id: RangeId, userId: UserId) => Effect.Effect<boolean, RangeNotFound | UserNotFound | StorageFault>
    /** False when there was no direct grant. */
    readonly revoke: (id: RangeId, userId: UserId) => Effect.Effect<boolean, StorageFault>
    /** The last look at the range's router; undefined: there was none. */
    readonly inspection: (id: RangeId) => Effect.Effect<KeptInspection | undefined, StorageFault>
    /**
     * Keeps a look at the router in place of the one before. Where testing mode is `on` and the router has other rules, testing mode is `entering` with
     * it: true. A range that does not exist is left alone.
     */
    readonly keepInspection: (id: RangeId, inspection: KeptInspection) => Effect.Effect<boolean, StorageFault>
    /** Stamps of activity; they never go back, and ids that do not exist are left out. */
    readonly touch: (stamps: ReadonlyMap<RangeId, Date>) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Ranges") {}
