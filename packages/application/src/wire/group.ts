import { type Group, type GroupMember, groupRoles, type Membership } from "@rangewright/domain"
import type { GroupOverview } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { recordTime } from "./common.ts"

/** A group in lists. */
export const GroupObject = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  numMembers: Schema.Int,
  numManagers: Schema.Int,
  numRanges: Schema.Int,
}).annotate({ identifier: "GroupObject" })

export const groupObject = (group: GroupOverview): typeof GroupObject.Type => ({
  name: group.name,
  description: group.description,
  numMembers: group.members,
  numManagers: group.managers,
  numRanges: group.ranges,
})

export const GroupMemberObject = Schema.Struct({
  userID: Schema.String,
  name: Schema.String,
  role: Schema.Literals(groupRoles),
}).annotate({ identifier: "GroupMemberObject" })

export const groupMemberObject = ({ userId, name, role }: GroupMember): typeof GroupMemberObject.Type => ({
  userID: userId,
  name,
  role,
})

/** A group as a record, for a user's record with its relations. */
export const groupRecord = (group: Group) => ({
  id: group.recordId,
  collectionId: "groups",
  collectionName: "groups",
  created: recordTime(group.createdAt),
  name: group.name,
  description: group.description,
})

/** A group, as seen by one of its users. */
export const UserMembershipObject = Schema.Struct({
  groupName: Schema.String,
  description: Schema.optionalKey(Schema.String),
  role: Schema.Literals(groupRoles),
}).annotate({ identifier: "UserMembershipObject" })

export const userMembershipObject = ({ group, role }: Membership): typeof UserMembershipObject.Type => ({
  groupName: group.name,
  ...(group.description === "" ? {} : { description: group.description }),
  role,
})
