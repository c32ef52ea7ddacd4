import { RangeNotFound } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { renderedRange } from "../range/rendered-ranges.ts"
import { BooleanText } from "../wire/parameters.ts"
import { RangeObject } from "../wire/range-object.ts"
import { rangeStatuses } from "../wire/statuses.ts"

export const listRange = operation({
  id: "listRange",
  route: "GET /range",
  group: "Range",
  summary: "The range with its machines, their power and addresses",
  access: "range-access",
  target: "range",
  query: { details: Schema.optionalKey(BooleanText) },
  output: { type: "prepared-json", schema: RangeObject },
  statuses: { 200: "the range with its machines", ...rangeStatuses },
  handle: ({ range, query }) =>
    Effect.gen(function* () {
      const text = yield* renderedRange(range, query.details ?? false)
      if (text === undefined) return yield* Effect.fail(new RangeNotFound({ rangeId: range.id }))
      return text
    }),
})
