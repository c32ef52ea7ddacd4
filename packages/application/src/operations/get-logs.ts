import { Failed, type RangeRunKind, rangeSubject, readLog, howTo } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { runLog } from "../range/run-log.ts"
import { LogPage } from "../wire/log-history.ts"
import { WholeNumberText } from "../wire/parameters.ts"

/** The runs that clients follow here: in Ludus, each of them begins the log of the range anew. */
const followed: readonly RangeRunKind[] = ["deploy", "testing-start", "testing-stop", "testing-update"]

export const getLogs = operation({
  id: "getLogs",
  route: "GET /range/logs",
  group: "Range",
  does: "read the log of a range",
  summary: "Log of the newest deploy, start or end of testing, or update of Windows, whole or from a given position",
  access: "range-access",
  target: "range",
  query: { tail: Schema.optionalKey(WholeNumberText), cursor: Schema.optionalKey(WholeNumberText) },
  output: { type: "json", schema: LogPage },
  statuses: {
    200: "the text, and the cursor for what follows",
    400: "tail or cursor is not a whole number from 0",
    500: "the range was never deployed, so there is no log",
  },
  handle: ({ range, query }) =>
    Effect.gen(function* () {
      const journal = yield* RunJournal
      const [run] = yield* journal.list({ subject: rangeSubject(range.id), kinds: followed, limit: 1 })
      if (run === undefined)
        return yield* new Failed({
          what: `Range ${range.id} has no log: it was never deployed`,
          hint: `Deploy it: ${howTo("POST /range/deploy", {}, range.id)}.`,
        })
      return readLog(yield* runLog(run), query)
    }),
})
