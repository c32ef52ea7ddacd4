import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { addPeople } from "../group/people.ts"
import { operation } from "../operation/operation.ts"
import { BulkResult, bulkResult, itemsOf } from "../wire/bulk.ts"
import { groupStatuses } from "../wire/statuses.ts"

export const addUsersToGroup = operation({
  id: "addUsersToGroup",
  route: "POST /groups/{groupName}/users",
  group: "Group",
  summary: "Add users to a group, as members or managers; named as managers, members become managers",
  access: "group-manager",
  accessNote: "managers of the group and administrators",
  target: "group-in-path",
  path: { groupName: Schema.String },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ userIDs: Schema.Array(Schema.String), managers: Schema.optionalKey(Schema.Array(Schema.String)) }),
  },
  output: { type: "json", schema: BulkResult },
  statuses: {
    200: "what became of each user, also when all were refused",
    ...groupStatuses,
    400: "the list is missing or empty; the body is malformed; userID names an unknown user",
  },
  handle: ({ group, body, caller, user }) =>
    Effect.gen(function* () {
      const items = yield* itemsOf(`add users to group ${group.name}`, "userIDs", body.userIDs)
      const managers = new Set((body.managers ?? []).map((item) => item.trim()))
      return bulkResult(yield* addPeople(group, items, managers, { caller, user }))
    }),
})
