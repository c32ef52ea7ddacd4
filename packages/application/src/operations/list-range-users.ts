import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"

export const listRangeUsers = operation({
  id: "listRangeUsers",
  route: "GET /ranges/{rangeID}/users",
  group: "Range",
  does: "list the users of ranges",
  summary: "Users that may use a range, and by which path",
  access: "admin",
  target: "range-in-path",
  path: { rangeID: Schema.String },
  output: {
    type: "json",
    schema: Schema.Array(
      Schema.Struct({
        userID: Schema.String,
        userNumber: Schema.Int,
        name: Schema.String,
        accessType: Schema.Literals(["Direct", "Group Member", "Group Manager"]),
      }),
    ),
  },
  statuses: { 200: "one row for each path, ascending by user ID" },
  handle: ({ range }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const grants = yield* ranges.grants(range.id)
      return grants.map(({ userId, userNumber, name, accessType }) => ({ userID: userId, userNumber, name, accessType }))
    }),
})
