import { Forbidden, InvalidInput, RangeNotFound, mayUse, type RangeId } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { DefaultRange } from "../wire/default-range.ts"

export const setDefaultRangeId = operation({
  id: "setDefaultRangeID",
  route: "POST /user/default-range",
  group: "User",
  does: "set the default range",
  summary: "Set the user's default range",
  access: "user",
  target: "none",
  query: { userID: Schema.optionalKey(Schema.String) },
  body: { type: "json", required: true, schema: DefaultRange },
  output: { type: "json", schema: DefaultRange },
  statuses: {
    200: "the default range now stored",
    400: "the range ID is empty",
    403: "the user may not use that range",
    404: "no range has this ID",
  },
  handle: ({ body, user }) =>
    Effect.gen(function* () {
      const users = yield* Users
      if (body.defaultRangeID === "")
        return yield* new InvalidInput({ what: "Cannot set the default range: a range ID is needed" })
      const ranges = yield* Ranges
      const range = yield* ranges.find(body.defaultRangeID as RangeId)
      if (range === undefined) return yield* new RangeNotFound({ rangeId: body.defaultRangeID })
      if (!mayUse("range-access", user, yield* ranges.grants(range.id)))
        return yield* new Forbidden({
          reason: `Cannot change the default range of ${user.id}: you do not have access to range ${range.id}`,
        })
      yield* users.change(user.id, { defaultRangeId: range.id })
      return { defaultRangeID: range.id }
    }),
})
