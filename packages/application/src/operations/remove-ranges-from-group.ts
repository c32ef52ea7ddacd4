import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { removeRanges } from "../group/ranges.ts"
import { operation } from "../operation/operation.ts"
import { BulkResult, bulkResult, itemsOf } from "../wire/bulk.ts"
import { groupStatuses } from "../wire/statuses.ts"

export const removeRangesFromGroup = operation({
  id: "removeRangesFromGroup",
  route: "DELETE /groups/{groupName}/ranges",
  group: "Group",
  summary: "Take ranges from the users of a group: here, on their routers and on the hypervisor",
  access: "group-manager",
  accessNote: "managers of the group and administrators",
  target: "group-in-path",
  path: { groupName: Schema.String },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ rangeIDs: Schema.Array(Schema.String) }),
  },
  output: { type: "json", schema: Schema.Struct({ ...BulkResult.fields, result: BulkResult }) },
  statuses: {
    200: "what became of each range, also when all were refused",
    ...groupStatuses,
    400: "the list is missing or empty; the body is malformed; userID names an unknown user",
  },
  handle: ({ group, body, caller, user }) =>
    Effect.gen(function* () {
      const items = yield* itemsOf(`remove ranges from group ${group.name}`, "rangeIDs", body.rangeIDs)
      // some clients read the outcome at the top, some under `result` (contract A 18)
      const result = bulkResult(yield* removeRanges(group, items, { caller, user }))
      return { ...result, result }
    }),
})
