import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { UserMembershipObject, userMembershipObject } from "../wire/group.ts"

export const getUserMemberships = operation({
  id: "getUserMemberships",
  route: "GET /user/memberships",
  group: "User",
  does: "list the groups of a user",
  summary: "The groups that the user is in, and the user's role in each",
  access: "user",
  target: "none",
  output: { type: "json", schema: Schema.Array(UserMembershipObject) },
  statuses: { 200: "the groups, newest first" },
  handle: ({ user }) =>
    Effect.map(
      Effect.flatMap(Groups, (groups) => groups.memberships(user.id)),
      (found) => found.map(userMembershipObject),
    ),
})
