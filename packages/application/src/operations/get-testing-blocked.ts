import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { inspectRouter, requireTesting } from "../range/inspect-router.ts"
import { BooleanText } from "../wire/parameters.ts"
import { hypervisorAway } from "../wire/statuses.ts"
import { BlockedTraffic, blockedTraffic } from "../wire/testing.ts"

export const getTestingBlocked = operation({
  id: "getTestingBlocked",
  origin: "ours",
  route: "GET /testing/blocked",
  group: "Testing",
  does: "report what testing mode blocked",
  summary: "What the range's machines tried to reach while testing and the router blocked, with its counts",
  access: "range-access",
  target: "range",
  query: {
    /** Asks the router now; otherwise returns its last answer, a few minutes old while testing is on. */
    refresh: Schema.optionalKey(BooleanText),
  },
  output: { type: "json", schema: BlockedTraffic },
  statuses: {
    200: "what was blocked, most packets first; without `inspectedAt` where the router was never asked",
    409: "with refresh: testing is not on; the range has no router, or it is off; a run is changing the range",
    500: "with refresh: the router did not answer, or does not report its rules",
    502: hypervisorAway,
  },
  handle: ({ range, query }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const machineStore = yield* Machines
      if (query.refresh === true) {
        const doing = `report what testing mode of range ${range.id} blocked`
        yield* requireTesting(doing, range)
        yield* inspectRouter(doing, range)
      }
      const testing = (yield* ranges.find(range.id))?.testing ?? range.testing
      const machines = yield* machineStore.ofRange(range.id)
      return blockedTraffic(testing, yield* ranges.inspection(range.id), machines)
    }),
})
