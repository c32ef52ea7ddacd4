import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { operation } from "../../operation/operation.ts"
import { rangeRecord, RangeRecord } from "../../wire/range-record.ts"
import { filterRecords, pageOf, pageQuery, recordPage } from "./page.ts"

export const recordListRanges = operation({
  id: "recordListRanges",
  route: "GET /api/collections/ranges/records",
  base: "/",
  group: "Range",
  origin: "page",
  does: "list ranges",
  summary: "Ranges as records: those that the caller may use",
  access: "user",
  accessNote: "only ranges the caller can use",
  target: "none",
  query: pageQuery,
  output: { type: "json", schema: recordPage(RangeRecord) },
  statuses: { 200: "one page of ranges, ascending by number", 400: "the filter is not understood", 401: "no valid credentials" },
  handle: ({ query, user }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const overviews = yield* ranges.overview(user.isAdmin ? {} : { for: user.id })
      const records = overviews.map(({ range, machines }) =>
        rangeRecord(range, machines.filter((machine) => !machine.template).length),
      )
      return pageOf(yield* filterRecords(records, query.filter), query)
    }),
})
