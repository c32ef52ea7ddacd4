import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { removeRanges } from "../group/ranges.ts"
import { bulkFrame } from "../group/bulk-frame.ts"
import { operation } from "../operation/operation.ts"
import { BulkResult, bulkResult, itemsOf } from "../wire/bulk.ts"

export const removeRangesFromGroup = operation({
  id: "removeRangesFromGroup",
  route: "DELETE /groups/{groupName}/ranges",
  ...bulkFrame,
  does: "remove ranges from a group",
  summary: "Revoke access to ranges from the users of a group, including on their routers and the hypervisor",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ rangeIDs: Schema.Array(Schema.String) }),
  },
  audited: ["rangeIDs"],
  output: { type: "json", schema: Schema.Struct({ ...BulkResult.fields, result: BulkResult }) },
  handle: ({ group, body, caller, user }) =>
    Effect.gen(function* () {
      const items = yield* itemsOf(`remove ranges from group ${group.name}`, "rangeIDs", body.rangeIDs)
      // some clients read the outcome at the top, some under `result`
      const result = bulkResult(yield* removeRanges(group, items, { caller, user }))
      return { ...result, result }
    }),
})
