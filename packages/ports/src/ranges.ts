import type {
  Activation,
  Amounts,
  Exhausted,
  Grant,
  ObservedMachine,
  Picture,
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
  /** Default limits for users without any others; absent: no default limits. */
  readonly systemLimits?: Amounts
}

/** Absent keys keep their value. */
export interface RangeChange extends Partial<
  Pick<Range, "name" | "description" | "purpose" | "testing" | "disguises" | "autoShutdown">
> {
  /** Undefined removes it. */
  readonly thumbnail?: Picture | undefined
}

/** Space used by the picture of a range. */
export interface RangePictureSize extends Pick<Range, "id" | "recordId"> {
  readonly bytes: number
}

/** A VM of a range as the store last saw it; `address` is the guest's. */
export interface RangeMachine extends ObservedMachine {
  readonly rangeId: RangeId
  readonly address: string | undefined
  /** Absent: none. */
  readonly foreignAddresses?: readonly string[]
  readonly isRouter: boolean
  /** The license state of its Windows at the last check; absent: unknown. */
  readonly activation?: Activation
  /** Since when it has been missing from the hypervisor's list; all other fields are as last seen. Absent: it is not missing. */
  readonly missingSince?: Date
}

/** A range with its VMs, as shown in lists. */
export interface RangeOverview {
  readonly range: Range
  readonly machines: readonly RangeMachine[]
}

/** An inspection of a range's router, and when it was made. */
export interface KeptInspection extends RouterInspection {
  readonly at: Date
}

/** Ranges, their configurations and grants. Whatever must be atomic is a single method. */
export class Ranges extends Context.Service<
  Ranges,
  {
    readonly find: (id: RangeId) => Effect.Effect<Range | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<Range | undefined, StorageFault>
    /**
     * Ascending by number. `for` selects ranges this user has, directly or through a group; `rangeId` selects one. Both together tell in
     * one read whether the user has the range.
     */
    readonly list: (filter?: {
      readonly for?: UserId
      readonly rangeId?: RangeId
    }) => Effect.Effect<readonly Range[], StorageFault>
    /** Hot path: ranges with their machines, ascending by number. For display only: it leaves out a damaged record, where `list` fails. */
    readonly overview: (filter: {
      readonly for?: UserId
      readonly rangeId?: RangeId
    }) => Effect.Effect<readonly RangeOverview[], StorageFault>
    /**
     * Increases whenever anything that `overview` shows, a configuration, a grant or a group membership has changed; cheap. An unchanged
     * value proves that a rendered answer is still current.
     */
    readonly revision: Effect.Effect<number, StorageFault>
    /**
     * `RangeExists` also for an ID that differs from an existing one only in case. `UserNotFound` for an owner or creator that does not
     * exist, `QuotaExceeded` if the first owner may have no more ranges.
     */
    readonly create: (
      range: NewRange,
    ) => Effect.Effect<Range, RangeExists | Exhausted | QuotaExceeded | UserNotFound | StorageFault>
    readonly change: (id: RangeId, change: RangeChange) => Effect.Effect<Range, RangeNotFound | StorageFault>
    /**
     * Stores the time until which the range should stay on. An earlier time than the stored one is ignored, unless the clock was set back
     * in between (`setBackBy`).
     */
    readonly stayOn: (id: RangeId, until: Date) => Effect.Effect<Range, RangeNotFound | StorageFault>
    /** The picture with this name of the range with this record; undefined if there is none, or its name has changed. */
    readonly thumbnail: (id: RecordId, name: string) => Effect.Effect<Picture | undefined, StorageFault>
    /** The pictures of the ranges that this user is charged for (`payerOf`), ascending by record. */
    readonly pictureSizes: (payer: UserId) => Effect.Effect<readonly RangePictureSize[], StorageFault>
    /** Removes the range with its configuration, grants, machines, runs and reservations, and from all groups. */
    readonly remove: (id: RangeId) => Effect.Effect<void, StorageFault>
    /** The configuration exactly as uploaded (UTF-8), and when. */
    readonly config: (id: RangeId) => Effect.Effect<{ readonly text: string; readonly updatedAt: Date } | undefined, StorageFault>
    /**
     * The configuration that the newest deploy started with, or with which an older service made the range; before the first deploy, the
     * stored one.
     */
    readonly deployedConfig: (id: RangeId) => Effect.Effect<string | undefined, StorageFault>
    readonly setConfig: (
      id: RangeId,
      text: string,
      write?: ConfigWrite,
    ) => Effect.Effect<void, ConfigChanged | RangeNotFound | StorageFault>
    /**
     * Every path by which users have the range, ascending by user id, then by access type: one row for a direct grant and one per group.
     */
    readonly grants: (id: RangeId) => Effect.Effect<readonly Grant[], StorageFault>
    /** Every path by which a user has ranges, ascending by range number, then by access type. */
    readonly grantsOf: (userId: UserId) => Effect.Effect<readonly (Grant & { readonly rangeNumber: number })[], StorageFault>
    /** False if the user already had a direct grant. */
    readonly grant: (id: RangeId, userId: UserId) => Effect.Effect<boolean, RangeNotFound | UserNotFound | StorageFault>
    /** False if there was no direct grant. */
    readonly revoke: (id: RangeId, userId: UserId) => Effect.Effect<boolean, StorageFault>
    /** The last inspection of the range's router; undefined if there was none. */
    readonly inspection: (id: RangeId) => Effect.Effect<KeptInspection | undefined, StorageFault>
    /**
     * Replaces the stored inspection of the router. If testing mode is `on` and the router has other rules, also sets testing mode to
     * `entering` and returns true. Does nothing for a range that does not exist.
     */
    readonly keepInspection: (id: RangeId, inspection: KeptInspection) => Effect.Effect<boolean, StorageFault>
    /**
     * Records the last activity of ranges. Times never move backward, unless the clock was set back (`setBackBy`); unknown ids are
     * ignored.
     */
    readonly touch: (stamps: ReadonlyMap<RangeId, Date>) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Ranges") {}
