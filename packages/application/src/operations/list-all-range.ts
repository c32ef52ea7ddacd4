import type { User } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { renderedRanges } from "../range/rendered-ranges.ts"
import { BooleanText } from "../wire/parameters.ts"
import { RangeObject } from "../wire/range-object.ts"

const shown = Effect.fnUntraced(function* (user: User, details: boolean) {
  const ranges = yield* Ranges
  const grants = user.isAdmin ? undefined : yield* ranges.grantsOf(user.id)
  return yield* renderedRanges(grants && new Set(grants.map((grant) => grant.rangeId)), details)
})

export const listAllRange = operation({
  id: "listAllRange",
  route: "GET /range/all",
  group: "Range",
  does: "list ranges",
  summary: "All ranges that the caller may use, with their machines",
  access: "user",
  accessNote: "administrators see all, others what they may use",
  target: "none",
  query: { details: Schema.optionalKey(BooleanText) },
  output: { type: "prepared-json", schema: Schema.Array(RangeObject) },
  statuses: { 200: "the ranges, ascending by number" },
  handle: ({ user, query }) => shown(user, query.details ?? false),
})
