import { placesOf, placeText } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { runToEnd } from "../range/run-to-end.ts"
import { rightsOnNetworks } from "../rights/compare.ts"
import { bringInLine, onPlaces } from "../rights/in-line.ts"
import { staysPending } from "../rights/revocation-pending.ts"
import { TextResult } from "../wire/common.ts"
import { BooleanText } from "../wire/parameters.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const deleteRange = operation({
  id: "deleteRange",
  route: "DELETE /range",
  group: "Range",
  does: "delete a range",
  summary: "Delete the range with its network, pool and rights; with force its machines too",
  access: "range-access",
  target: "range",
  query: { force: Schema.optionalKey(BooleanText) },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the range and everything that belonged to it was deleted",
    400: "force is not a boolean",
    409: "machines remain and force is not set; there are ranges below it; a run is changing the range",
    500: "a removal step failed",
    502: hypervisorAway,
  },
  handle: ({ range, query, user }) =>
    Effect.gen(function* () {
      const doing = `delete range ${range.id}`
      // read now: after the removal it is no longer known which places belonged to the range
      const places = new Set(placesOf(range, yield* rightsOnNetworks).map(placeText))
      yield* runToEnd(doing, range, { kind: "delete-range", force: query.force ?? false }, user.id)
      yield* staysPending(doing)(bringInLine({ doing, by: user.id, concerns: onPlaces(places) }))
      return { result: `Range ${range.id} deleted` }
    }),
})
