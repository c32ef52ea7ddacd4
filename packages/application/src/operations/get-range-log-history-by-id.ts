import { Forbidden, isRunId, NotFound, rangeOf } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { runLog } from "../range/run-log.ts"
import { shownInHistory } from "../range/shown-in-history.ts"
import { LogHistoryDetailResponse, logHistoryEntry } from "../wire/log-history.ts"

export const getRangeLogHistoryById = operation({
  id: "getRangeLogHistoryByID",
  route: "GET /range/logs/history/{logID}",
  group: "Range",
  does: "read a deploy of a range",
  summary: "One deploy of the range with its log",
  access: "range-access",
  target: "range",
  path: { logID: Schema.String },
  output: { type: "json", schema: LogHistoryDetailResponse },
  statuses: {
    200: "the entry with its text",
    403: "the entry belongs to another range; the caller may not use the range",
    404: "there is no such entry; the range is unknown, or none is selected",
  },
  handle: ({ range, path }) =>
    Effect.gen(function* () {
      const journal = yield* RunJournal
      const run = isRunId(path.logID) ? yield* journal.find(path.logID) : undefined
      if (run === undefined)
        return yield* new NotFound({
          what: `Log entry not found: ${path.logID.slice(0, 64)}`,
          hint: "GET /range/logs/history lists the entries.",
        })
      if (rangeOf(run) !== range.id)
        return yield* new Forbidden({ reason: `Log entry ${run.id} belongs to another range than ${range.id}` })
      return { ...logHistoryEntry(yield* shownInHistory(run)), result: yield* runLog(run) }
    }),
})
