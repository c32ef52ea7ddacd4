import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { addPeople } from "../group/people.ts"
import { bulkFrame } from "../group/bulk-frame.ts"
import { operation } from "../operation/operation.ts"
import { bulkResult, itemsOf } from "../wire/bulk.ts"

export const addUsersToGroup = operation({
  id: "addUsersToGroup",
  route: "POST /groups/{groupName}/users",
  ...bulkFrame,
  does: "add users to a group",
  summary: "Add users to a group, as members or managers; members who are named as managers become managers",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ userIDs: Schema.Array(Schema.String), managers: Schema.optionalKey(Schema.Array(Schema.String)) }),
  },
  audited: ["userIDs", "managers"],
  handle: ({ group, body, caller, user }) =>
    Effect.gen(function* () {
      const items = yield* itemsOf(`add users to group ${group.name}`, "userIDs", body.userIDs)
      const managers = new Set((body.managers ?? []).map((item) => item.trim()))
      return bulkResult(yield* addPeople(group, items, managers, { caller, user }))
    }),
})
