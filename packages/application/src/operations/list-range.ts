import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { renderedRange } from "../range/rendered-ranges.ts"
import { BooleanText } from "../wire/parameters.ts"
import { RangeObject } from "../wire/range-object.ts"

export const listRange = operation({
  id: "listRange",
  route: "GET /range",
  group: "Range",
  does: "read a range",
  summary: "The range with its machines, their power and addresses",
  access: "range-access",
  target: "range",
  query: { details: Schema.optionalKey(BooleanText) },
  output: { type: "prepared-json", schema: RangeObject },
  statuses: { 200: "the range with its machines" },
  handle: ({ range, query }) => renderedRange(range, query.details === true ? "detailed" : "plain"),
})
