import { type Group, type GroupNotice, groupRoles } from "@rangewright/domain"
import { declared, key, named, oneOf, reference, text, time, unique } from "../schema/column.ts"
import { groupName, rangeId, recordId, userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { ranges } from "./range.ts"
import { users } from "./user.ts"

// `groups` is an SQL keyword
export const groups = table("user_groups", {
  name: key(groupName),
  recordId: unique("user_groups_record_unique", recordId),
  description: text,
  createdAt: time,
})

export const toGroup: (row: StoredRow) => Group = groups.reader()

const ofGroup = key(reference(() => groups.entity, groupName))

export const groupMembers = table("group_members", {
  groupName: ofGroup,
  userId: key(reference(() => users.entity, userId)),
  role: oneOf(groupRoles),
})

export const groupRanges = table("group_ranges", { groupName: ofGroup, rangeId: key(reference(() => ranges.entity, rangeId)) })

export const groupNotices = table("group_notices", {
  group: named(
    "group_name",
    key(
      declared(
        reference(() => groups.entity, groupName),
        { index: false },
      ),
    ),
  ),
  text,
  /** Possibly a deleted user. */
  by: named("by_user", userId),
  at: time,
  until: time,
})

export const toNotice: (row: StoredRow) => GroupNotice = groupNotices.reader()
