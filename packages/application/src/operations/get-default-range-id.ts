import { NotFound, howTo } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { DefaultRange } from "../wire/default-range.ts"

/** The stored value, even if that range is gone: clients show it and offer to set another. */
export const getDefaultRangeId = operation({
  id: "getDefaultRangeID",
  route: "GET /user/default-range",
  group: "User",
  does: "read the default range",
  summary: "The user's default range",
  access: "user",
  target: "none",
  query: { userID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: DefaultRange },
  statuses: { 200: "the stored range ID", 404: "no default range is stored" },
  handle: ({ user }) =>
    user.defaultRangeId === undefined
      ? Effect.fail(
          new NotFound({ what: `User ${user.id} has no default range`, hint: `Set one: ${howTo("POST /user/default-range")}.` }),
        )
      : Effect.succeed({ defaultRangeID: user.defaultRangeId }),
})
