import { NotFound, howTo } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { versionOf } from "../operation/versions.ts"
import { TextResult } from "../wire/common.ts"

export const getConfig = operation({
  id: "getConfig",
  route: "GET /range/config",
  group: "Range",
  does: "read the configuration of a range",
  summary: "The range's configuration, as it was uploaded; a change may send its ETag in If-Match",
  access: "range-access",
  target: "range",
  wholeKeyOnly: true,
  output: { type: "marked-json", schema: TextResult },
  statuses: {
    200: "the configuration, byte for byte",
    404: "the range has no configuration; the range is unknown, or none is selected",
  },
  handle: ({ range }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const stored = yield* ranges.config(range.id)
      if (stored === undefined)
        return yield* new NotFound({
          what: `Range ${range.id} has no configuration`,
          hint: `Upload one: ${howTo("PUT /range/config", {}, range.id)}.`,
        })
      return { json: { result: stored.text }, version: yield* versionOf(stored.text) }
    }),
})
