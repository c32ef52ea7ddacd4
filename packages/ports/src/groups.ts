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

/** A group and how much belongs to it: what lists show. */
export interface GroupOverview extends Group {
  readonly members: number
  readonly managers: number
  readonly ranges: number
}

/**
 * Groups, who is in them and which ranges they have. Unique by name. Removing a user or a range removes them from all groups. What a change
 * here gives to users, `Ranges` tells at once.
 */
export class Groups extends Context.Service<
  Groups,
  {
    readonly find: (name: GroupName) => Effect.Effect<Group | undefined, StorageFault>
    /** Ascending by name. `for` narrows to groups this user is in. */
    readonly list: (filter?: { readonly for?: UserId }) => Effect.Effect<readonly GroupOverview[], StorageFault>
    readonly create: (group: Group) => Effect.Effect<Group, GroupExists | StorageFault>
    /** Removes the group with its places and its ranges' grants; users and ranges stay. */
    readonly remove: (name: GroupName) => Effect.Effect<void, StorageFault>
    /** Members first, then managers, each ascending by user id. */
    readonly members: (name: GroupName) => Effect.Effect<readonly GroupMember[], StorageFault>
    /** The user's place in the group; undefined: none. */
    readonly roleOf: (name: GroupName, userId: UserId) => Effect.Effect<GroupRole | undefined, StorageFault>
    /** The groups of a user, the newest first. */
    readonly memberships: (userId: UserId) => Effect.Effect<readonly Membership[], StorageFault>
    /**
     * Makes each of these users what is named, undefined: nothing in this group. All or nothing. With `keepManager` it fails when the group
     * had a manager and would have none. With `from` it leaves those alone who are not what is named there any more. `UserNotFound` for a user who gets a role and does not exist.
     */
    readonly setRoles: (
      name: GroupName,
      roles: ReadonlyMap<UserId, GroupRole | undefined>,
      options?: { readonly keepManager?: boolean; readonly from?: ReadonlyMap<UserId, GroupRole | undefined> },
    ) => Effect.Effect<void, GroupNotFound | UserNotFound | LastManager | StorageFault>
    /** Puts it in the place of what its group had. */
    readonly setNotice: (notice: GroupNotice) => Effect.Effect<void, GroupNotFound | StorageFault>
    readonly removeNotice: (name: GroupName) => Effect.Effect<void, StorageFault>
    /** Ascending by group, also those that are over. `for` narrows to groups this user is in. `Ranges.revision` rises with each. */
    readonly notices: (filter?: { readonly for?: UserId }) => Effect.Effect<readonly GroupNotice[], StorageFault>
    /** Ascending by the range's number. */
    readonly ranges: (name: GroupName) => Effect.Effect<readonly RangeId[], StorageFault>
    /** False when the group had the range already. */
    readonly addRange: (name: GroupName, rangeId: RangeId) => Effect.Effect<boolean, GroupNotFound | RangeNotFound | StorageFault>
    /** False when the group did not have the range. */
    readonly removeRange: (name: GroupName, rangeId: RangeId) => Effect.Effect<boolean, StorageFault>
  }
>()("rangewright/Groups") {}
