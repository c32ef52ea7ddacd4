import type { GroupMember, GroupName, GroupNotice, Membership, UserId } from "@rangewright/domain"
import type { GroupOverview } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Database } from "../engine/database.ts"
import { groupMembers, groupRanges, groups, toGroup, toNotice } from "../records/group.ts"
import { count, text } from "../schema/column.ts"
import { userId } from "../schema/ids.ts"
import { first, readerOf, type StoredRow } from "../schema/table.ts"

const withCounts = `select g.*,
  (select count(*) from group_members m where m.group_name = g.name and m.role = 'member') as members,
  (select count(*) from group_members m where m.group_name = g.name and m.role = 'manager') as managers,
  (select count(*) from group_ranges r where r.group_name = g.name) as ranges
  from user_groups g`

const toOverview: (row: StoredRow) => GroupOverview = readerOf("the table user_groups", {
  ...groups.columns,
  members: count,
  managers: count,
  ranges: count,
})()
const toMember: (row: StoredRow) => GroupMember = readerOf("the table group_members", {
  userId,
  name: text,
  role: groupMembers.columns.role,
})()
const readRole = groupMembers.reader({ only: ["role"] })
const readRange = groupRanges.reader({ only: ["rangeId"] })

/** Sorted here: the engines' collations differ. */
const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1)
const membersFirst = (a: GroupMember, b: GroupMember): number =>
  a.role === b.role ? (a.userId < b.userId ? -1 : 1) : a.role === "member" ? -1 : 1

/** The reads of groups: prepared once, to plain rows. */
export const groupReads = ({ prepared, list }: Database["Service"]) => {
  const all = list("list groups", withCounts, toOverview)
  const allOf = list(
    "list groups",
    `${withCounts} where g.name in (select group_name from group_members where user_id = ?)`,
    toOverview,
  )
  const members = list(
    "list the members of a group",
    "select m.user_id, m.role, u.name from group_members m join users u on u.id = m.user_id where m.group_name = ?",
    toMember,
  )
  const memberships = list(
    "list the groups of a user",
    "select g.*, m.role from group_members m join user_groups g on g.name = m.group_name where m.user_id = ?",
    (row): Membership => ({ group: toGroup(row), ...readRole(row) }),
  )
  const selectNotices = "select * from group_notices"
  const notices = list("list notices", selectNotices, toNotice)
  const noticesOf = list(
    "list notices",
    `${selectNotices} where group_name in (select group_name from group_members where user_id = ?)`,
    toNotice,
  )
  const byGroup = (a: GroupNotice, b: GroupNotice): number => (a.group < b.group ? -1 : 1)
  return {
    find: prepared("find a group", "select * from user_groups where name = ?", first(toGroup)),
    list: (filter: { readonly for?: UserId } = {}) =>
      Effect.map(filter.for === undefined ? all() : allOf(filter.for), (groups) => groups.toSorted(byName)),
    members: (name: GroupName) => Effect.map(members(name), (found) => found.toSorted(membersFirst)),
    roleOf: prepared(
      "find a member of a group",
      "select role from group_members where group_name = ? and user_id = ?",
      first((row) => readRole(row).role),
    ),
    memberships: (userId: UserId) =>
      Effect.map(memberships(userId), (found) =>
        found.toSorted((a, b) => b.group.createdAt.getTime() - a.group.createdAt.getTime() || byName(a.group, b.group)),
      ),
    notices: (filter: { readonly for?: UserId } = {}) =>
      Effect.map(filter.for === undefined ? notices() : noticesOf(filter.for), (found) => found.toSorted(byGroup)),
    ranges: list(
      "list the ranges of a group",
      "select g.range_id from group_ranges g join ranges r on r.id = g.range_id where g.group_name = ? order by r.number",
      (row) => readRange(row).rangeId,
    ),
  }
}
