import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { addRanges } from "../group/ranges.ts"
import { bulkFrame } from "../group/bulk-frame.ts"
import { operation } from "../operation/operation.ts"
import { bulkResult, itemsOf } from "../wire/bulk.ts"

export const addRangesToGroup = operation({
  id: "addRangesToGroup",
  route: "POST /groups/{groupName}/ranges",
  ...bulkFrame,
  does: "add ranges to a group",
  summary: "Give the users of a group access to ranges, including on their routers and the hypervisor",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ rangeIDs: Schema.Array(Schema.String) }),
  },
  audited: ["rangeIDs"],
  handle: ({ group, body, caller, user }) =>
    Effect.gen(function* () {
      const items = yield* itemsOf(`add ranges to group ${group.name}`, "rangeIDs", body.rangeIDs)
      return bulkResult(yield* addRanges(group, items, { caller, user }))
    }),
})
