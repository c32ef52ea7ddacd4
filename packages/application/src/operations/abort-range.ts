import { Failed, rangeSubject } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { stillThere } from "../access/still-there.ts"
import { operation } from "../operation/operation.ts"
import { RunEngine } from "@rangewright/run-engine"
import { TextResult } from "../wire/common.ts"

export const abortRange = operation({
  id: "abortRange",
  route: "POST /range/abort",
  group: "Range",
  does: "abort the run that changes a range",
  summary: "Stop the run that changes the range; running tasks finish",
  access: "range-access",
  target: "range",
  output: { type: "json", schema: TextResult },
  statuses: { 200: "no new step starts; the range shows ABORTED, and its next run may be started", 500: "nothing is running" },
  handle: ({ range, user }) =>
    Effect.gen(function* () {
      const journal = yield* RunJournal
      const engine = yield* RunEngine
      const run = yield* journal.active(rangeSubject(range.id))
      if (run === undefined || !(yield* engine.cancel(run.id, user.id))) {
        yield* stillThere({ ranges: [range] })
        return yield* new Failed({
          what: `Cannot abort range ${range.id}: nothing is running`,
          hint: "GET /runs shows what ran.",
        })
      }
      return {
        result: `Run ${run.id} (${run.kind}) of range ${range.id} aborted. Its running steps finish first; you can start the next run of the range now, and it begins automatically after that`,
      }
    }),
})
