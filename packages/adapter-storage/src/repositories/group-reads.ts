import type { GroupMember, GroupName, GroupRole, RangeId, UserId } from "@rangewright/domain"
import type { GroupOverview } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Selectable } from "kysely"
import type { Database } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toGroup } from "../schema/rows.ts"

type GroupRow = Selectable<Tables["user_groups"]>
interface OverviewRow extends GroupRow {
  /** PostgreSQL's driver gives counts as text. */
  readonly members: number | string
  readonly managers: number | string
  readonly ranges: number | string
}
interface MemberRow {
  readonly user_id: string
  readonly name: string
  readonly role: GroupRole
}

const withCounts = `select g.*,
  (select count(*) from group_members m where m.group_name = g.name and m.role = 'member') as members,
  (select count(*) from group_members m where m.group_name = g.name and m.role = 'manager') as managers,
  (select count(*) from group_ranges r where r.group_name = g.name) as ranges
  from user_groups g`

const toOverview = (row: OverviewRow): GroupOverview => ({
  ...toGroup(row),
  members: Number(row.members),
  managers: Number(row.managers),
  ranges: Number(row.ranges),
})

/** Orders of our own: the engines' collations differ. */
const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1)
const membersFirst = (a: GroupMember, b: GroupMember): number =>
  a.role === b.role ? (a.userId < b.userId ? -1 : 1) : a.role === "member" ? -1 : 1

/** The reads of groups: prepared once, to plain rows. */
export const groupReads = ({ prepared }: Database["Service"]) => {
  const byKey = prepared<GroupRow>("find a group", "select * from user_groups where name = ?")
  const all = prepared<OverviewRow>("list groups", withCounts)
  const allOf = prepared<OverviewRow>(
    "list groups",
    `${withCounts} where g.name in (select group_name from group_members where user_id = ?)`,
  )
  const members = prepared<MemberRow>(
    "list the members of a group",
    "select m.user_id, m.role, u.name from group_members m join users u on u.id = m.user_id where m.group_name = ?",
  )
  const role = prepared<Pick<MemberRow, "role">>(
    "find a member of a group",
    "select role from group_members where group_name = ? and user_id = ?",
  )
  const memberships = prepared<GroupRow & { readonly role: GroupRole }>(
    "list the groups of a user",
    "select g.*, m.role from group_members m join user_groups g on g.name = m.group_name where m.user_id = ?",
  )
  const ranges = prepared<{ readonly range_id: string }>(
    "list the ranges of a group",
    "select g.range_id from group_ranges g join ranges r on r.id = g.range_id where g.group_name = ? order by r.number",
  )

  return {
    find: (name: GroupName) => Effect.map(byKey(name), ([row]) => (row === undefined ? undefined : toGroup(row))),
    list: (filter: { readonly for?: UserId } = {}) =>
      Effect.map(filter.for === undefined ? all() : allOf(filter.for), (rows) => rows.map(toOverview).sort(byName)),
    members: (name: GroupName) =>
      Effect.map(members(name), (rows) =>
        rows.map((row): GroupMember => ({ userId: row.user_id as UserId, name: row.name, role: row.role })).sort(membersFirst),
      ),
    roleOf: (name: GroupName, userId: UserId) => Effect.map(role(name, userId), ([row]) => row?.role),
    memberships: (userId: UserId) =>
      Effect.map(memberships(userId), (rows) =>
        rows
          .map((row) => ({ group: toGroup(row), role: row.role }))
          .sort((a, b) => b.group.createdAt.getTime() - a.group.createdAt.getTime() || byName(a.group, b.group)),
      ),
    ranges: (name: GroupName) => Effect.map(ranges(name), (rows) => rows.map((row) => row.range_id as RangeId)),
  }
}
