import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { removePeople } from "../group/people.ts"
import { bulkFrame } from "../group/bulk-frame.ts"
import { operation } from "../operation/operation.ts"
import { bulkResult, itemsOf } from "../wire/bulk.ts"

export const removeUsersFromGroup = operation({
  id: "removeUsersFromGroup",
  route: "DELETE /groups/{groupName}/users",
  ...bulkFrame,
  does: "remove users from a group",
  summary: "Remove users from a group; its managers cannot remove the last one of them",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ userIDs: Schema.Array(Schema.String) }),
  },
  audited: ["userIDs"],
  handle: ({ group, body, caller, user }) =>
    Effect.gen(function* () {
      const items = yield* itemsOf(`remove users from group ${group.name}`, "userIDs", body.userIDs)
      return bulkResult(yield* removePeople(group, items, { caller, user }))
    }),
})
