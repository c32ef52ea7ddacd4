import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { GroupMemberObject, groupMemberObject } from "../wire/group.ts"

export const listGroupMembers = operation({
  id: "listGroupMembers",
  route: "GET /groups/{groupName}/users",
  group: "Group",
  does: "list the members of groups",
  summary: "Users of a group, and the role of each in it",
  access: "admin",
  alsoFor: "group-manager",
  accessNote: "managers of the group too",
  target: "group-in-path",
  path: { groupName: Schema.String },
  output: { type: "json", schema: Schema.Array(GroupMemberObject) },
  statuses: { 200: "members first, then managers, each ascending by user ID" },
  handle: ({ group }) =>
    Effect.map(
      Effect.flatMap(Groups, (groups) => groups.members(group.name)),
      (members) => members.map(groupMemberObject),
    ),
})
