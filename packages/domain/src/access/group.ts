import type { Brand } from "effect/Brand"
import type { RecordId, UserId } from "./ids.ts"
import type { AccessType, User } from "./user.ts"

/** Name of a group, which is its identity: letters, digits, `_` and `-`; case-sensitive. */
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

/** The role of a user in a group. Managers have everything members have, and decide who and what belongs to the group. */
export type GroupRole = (typeof groupRoles)[number]

/** The access type that this role gives to the group's ranges. */
export const accessTypeOf = (role: GroupRole): AccessType => (role === "manager" ? "Group Manager" : "Group Member")

/** A group that a user is in, with the user's role. */
export interface Membership {
  readonly group: Group
  readonly role: GroupRole
}

/** A user in a group, with the user's role. */
export interface GroupMember {
  readonly userId: UserId
  readonly name: string
  readonly role: GroupRole
}

/** A temporary message to a group's users: plain text. A group has at most one notice. */
export interface GroupNotice {
  readonly group: GroupName
  readonly text: string
  readonly by: UserId
  readonly at: Date
  readonly until: Date
}

/** Whether a user with this role in a group (undefined: none) may change who and what belongs to it. Administrators always may. */
export const mayManage = (user: Pick<User, "isAdmin">, role: GroupRole | undefined): boolean => user.isAdmin || role === "manager"
