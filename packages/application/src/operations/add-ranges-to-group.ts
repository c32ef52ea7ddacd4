import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { addRanges } from "../group/ranges.ts"
import { operation } from "../operation/operation.ts"
import { BulkResult, bulkResult, itemsOf } from "../wire/bulk.ts"
import { groupStatuses } from "../wire/statuses.ts"

export const addRangesToGroup = operation({
  id: "addRangesToGroup",
  route: "POST /groups/{groupName}/ranges",
  group: "Group",
  summary: "Let the users of a group use ranges: here, on their routers and on the hypervisor",
  access: "group-manager",
  accessNote: "managers of the group and administrators",
  target: "group-in-path",
  path: { groupName: Schema.String },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ rangeIDs: Schema.Array(Schema.String) }),
  },
  output: { type: "json", schema: BulkResult },
  statuses: {
    200: "what became of each range, also when all were refused",
    ...groupStatuses,
    400: "the list is missing or empty; the body is malformed; userID names an unknown user",
  },
  handle: ({ group, body, caller, user }) =>
    Effect.gen(function* () {
      const items = yield* itemsOf(`add ranges to group ${group.name}`, "rangeIDs", body.rangeIDs)
      return bulkResult(yield* addRanges(group, items, { caller, user }))
    }),
})
