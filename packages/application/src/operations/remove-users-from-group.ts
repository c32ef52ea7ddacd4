import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { removePeople } from "../group/people.ts"
import { operation } from "../operation/operation.ts"
import { BulkResult, bulkResult, itemsOf } from "../wire/bulk.ts"
import { groupStatuses } from "../wire/statuses.ts"

export const removeUsersFromGroup = operation({
  id: "removeUsersFromGroup",
  route: "DELETE /groups/{groupName}/users",
  group: "Group",
  summary: "Remove users from a group; its managers cannot remove the last one of them",
  access: "group-manager",
  accessNote: "managers of the group and administrators",
  target: "group-in-path",
  path: { groupName: Schema.String },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ userIDs: Schema.Array(Schema.String) }),
  },
  output: { type: "json", schema: BulkResult },
  statuses: {
    200: "what became of each user, also when all were refused",
    ...groupStatuses,
    400: "the list is missing or empty; the body is malformed; userID names an unknown user",
  },
  handle: ({ group, body, caller, user }) =>
    Effect.gen(function* () {
      const items = yield* itemsOf(`remove users from group ${group.name}`, "userIDs", body.userIDs)
      return bulkResult(yield* removePeople(group, items, { caller, user }))
    }),
})
