import { rangeOf } from "@rangewright/domain"
import { Ranges, RunJournal, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { operation } from "../../operation/operation.ts"
import { shownInHistory } from "../../range/shown-in-history.ts"
import { logRecord, LogRecord } from "../../wire/log-record.ts"
import { filterRecords, pageOf, pageQuery, recordPage } from "./page.ts"

/** Number of newest runs that are read. */
const most = 1000

export const recordListLogs = operation({
  id: "recordListLogs",
  route: "GET /api/collections/logs/records",
  base: "/",
  group: "Range",
  origin: "page",
  does: "list the deploys of all ranges",
  summary: "Deploys of all ranges as records, newest first",
  access: "admin",
  target: "none",
  query: pageQuery,
  output: { type: "json", schema: recordPage(LogRecord) },
  statuses: {
    200: "one page of logs",
    400: "the filter is not understood",
    401: "no valid credentials",
    403: "the caller is not an administrator",
  },
  handle: ({ query }) =>
    Effect.gen(function* () {
      const userStore = yield* Users
      const rangeStore = yield* Ranges
      const journal = yield* RunJournal
      const users = new Map((yield* userStore.list).map((user) => [user.id, user.recordId]))
      const ranges = new Map((yield* rangeStore.list()).map((range) => [range.id, range.recordId]))
      const runs = yield* Effect.forEach(yield* journal.list({ kinds: ["deploy"], limit: most }), shownInHistory)
      const records = runs.map((run) => {
        const rangeId = rangeOf(run)
        return logRecord(run, { user: users.get(run.by), range: rangeId === undefined ? undefined : ranges.get(rangeId) })
      })
      return pageOf(yield* filterRecords(records, query.filter), query)
    }),
})
