import type { Brand } from "effect/Brand"
import type { RecordId, UserId } from "./ids.ts"
import type { AccessType, User } from "./user.ts"

/** Name of a group on the wire, and its only identity: letters, digits, `_` and `-`; case counts. */
export type GroupName = string & Brand<"GroupName">

const groupNamePattern = /^[A-Za-z0-9_-]{1,64}$/u

/** At most 64 characters, as for ranges. */
export const isGroupName = (text: string): text is GroupName => groupNamePattern.test(text)

/** Users who have the same ranges. */
export interface Group {
  readonly name: GroupName
  readonly recordId: RecordId
  readonly description: string
  readonly createdAt: Date
}

export const groupRoles = ["member", "manager"] as const

/** What a user is in a group: one of the two, never both. Managers have all that members have, and say who and what belongs to the group. */
export type GroupRole = (typeof groupRoles)[number]

/** How a user in this role comes to the group's ranges. */
export const accessTypeOf = (role: GroupRole): AccessType => (role === "manager" ? "Group Manager" : "Group Member")

/** A user's place in a group, seen from the user. */
export interface Membership {
  readonly group: Group
  readonly role: GroupRole
}

/** The same, seen from the group. */
export interface GroupMember {
  readonly userId: UserId
  readonly name: string
  readonly role: GroupRole
}

/** What the people of a group are told for a while: plain text. A group has one notice at most. */
export interface GroupNotice {
  readonly group: GroupName
  readonly text: string
  readonly by: UserId
  readonly at: Date
  readonly until: Date
}

/** Whether a user with this role in a group (undefined: none) may say who and what belongs to it. Admins always may. */
export const mayManage = (user: Pick<User, "isAdmin">, role: GroupRole | undefined): boolean => user.isAdmin || role === "manager"
