import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { AccessibleRange } from "../wire/accessible-range.ts"

export const listUserAccessibleRanges = operation({
  id: "listUserAccessibleRanges",
  route: "GET /ranges/accessible",
  group: "Range",
  does: "list the ranges of a user",
  summary: "Ranges granted to the user",
  access: "user",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Array(AccessibleRange),
  },
  statuses: { 200: "each range once, ascending by number; Direct where a direct grant is among its paths" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const grants = yield* ranges.grantsOf(user.id)
      // of a range's paths, a direct grant comes first
      const first = grants.filter(({ rangeId }, at) => grants[at - 1]?.rangeId !== rangeId)
      return first.map(({ rangeId, rangeNumber, accessType }) => ({
        rangeNumber,
        rangeID: rangeId,
        accessType: accessType === "Direct" ? ("Direct" as const) : ("Group" as const),
      }))
    }),
})
