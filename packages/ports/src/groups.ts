import type {
  Group,
  GroupExists,
  GroupMember,
  GroupName,
  GroupNotFound,
  GroupNotice,
  GroupRole,
  LastManager,
  Membership,
  RangeId,
  RangeNotFound,
  UserId,
  UserNotFound,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** A group with its counts, as shown in lists. */
export interface GroupOverview extends Group {
  readonly members: number
  readonly managers: number
  readonly ranges: number
}

/**
 * Groups, their members and their ranges. Unique by name. Removing a user or a range removes it from all groups. `Ranges` reflects changes
 * made here at once.
 */
export class Groups extends Context.Service<
  Groups,
  {
    readonly find: (name: GroupName) => Effect.Effect<Group | undefined, StorageFault>
    /** Ascending by name. `for` selects the groups that this user is in. */
    readonly list: (filter?: { readonly for?: UserId }) => Effect.Effect<readonly GroupOverview[], StorageFault>
    readonly create: (group: Group) => Effect.Effect<Group, GroupExists | StorageFault>
    /** Removes the group with its memberships and range grants; users and ranges stay. */
    readonly remove: (name: GroupName) => Effect.Effect<void, StorageFault>
    /** Members first, then managers, each ascending by user id. */
    readonly members: (name: GroupName) => Effect.Effect<readonly GroupMember[], StorageFault>
    /** The user's role in the group; undefined if the user is not in it. */
    readonly roleOf: (name: GroupName, userId: UserId) => Effect.Effect<GroupRole | undefined, StorageFault>
    /** The groups of a user, newest first. */
    readonly memberships: (userId: UserId) => Effect.Effect<readonly Membership[], StorageFault>
    /**
     * Sets the role of each of these users in the group; undefined removes the user from it. All or nothing. With `keepManager` it fails
     * when the group would lose its last manager. With `from` it skips users whose current role is no longer the one given there. Fails
     * with `UserNotFound` when a user who gets a role does not exist. Returns the users who were not skipped.
     */
    readonly setRoles: (
      name: GroupName,
      roles: ReadonlyMap<UserId, GroupRole | undefined>,
      options?: { readonly keepManager?: boolean; readonly from?: ReadonlyMap<UserId, GroupRole | undefined> },
    ) => Effect.Effect<readonly UserId[], GroupNotFound | UserNotFound | LastManager | StorageFault>
    /** Replaces the group's notice. */
    readonly setNotice: (notice: GroupNotice) => Effect.Effect<void, GroupNotFound | StorageFault>
    readonly removeNotice: (name: GroupName) => Effect.Effect<void, StorageFault>
    /**
     * Ascending by group, including expired ones. `for` selects the groups that this user is in. Each change increments `Ranges.revision`.
     */
    readonly notices: (filter?: { readonly for?: UserId }) => Effect.Effect<readonly GroupNotice[], StorageFault>
    /** Ascending by the range's number. */
    readonly ranges: (name: GroupName) => Effect.Effect<readonly RangeId[], StorageFault>
    /** False if the group already had the range. */
    readonly addRange: (name: GroupName, rangeId: RangeId) => Effect.Effect<boolean, GroupNotFound | RangeNotFound | StorageFault>
    /** False if the group did not have the range. */
    readonly removeRange: (name: GroupName, rangeId: RangeId) => Effect.Effect<boolean, StorageFault>
  }
>()("rangewright/Groups") {}
