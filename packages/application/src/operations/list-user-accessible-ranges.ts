import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { userStatuses } from "../wire/statuses.ts"

export const listUserAccessibleRanges = operation({
  id: "listUserAccessibleRanges",
  route: "GET /ranges/accessible",
  group: "Range",
  summary: "Ranges granted to the user",
  access: "user",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Array(
      Schema.Struct({ rangeNumber: Schema.Int, rangeID: Schema.String, accessType: Schema.Literals(["Direct", "Group"]) }),
    ),
  },
  statuses: { 200: "one row for each path, ascending by number", ...userStatuses },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const grants = yield* (yield* Ranges).grantsOf(user.id)
      return grants.map(({ rangeId, rangeNumber, accessType }) => ({
        rangeNumber,
        rangeID: rangeId,
        accessType: accessType === "Direct" ? ("Direct" as const) : ("Group" as const),
      }))
    }),
})
