import { rangeSubject } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { shownInHistory } from "../range/shown-in-history.ts"
import { Settings } from "../settings.ts"
import { LogHistoryEntry, logHistoryEntry } from "../wire/log-history.ts"

export const getRangeLogHistory = operation({
  id: "getRangeLogHistory",
  route: "GET /range/logs/history",
  group: "Range",
  does: "list the deploys of a range",
  summary: "The deploys of the range, newest first",
  access: "range-access",
  target: "range",
  output: { type: "json", schema: Schema.Array(LogHistoryEntry) },
  statuses: { 200: "one entry for each deploy that is kept" },
  handle: ({ range }) =>
    Effect.gen(function* () {
      const { maxLogHistory } = yield* Settings
      const journal = yield* RunJournal
      const runs = yield* journal.list({ subject: rangeSubject(range.id), kinds: ["deploy"], limit: maxLogHistory })
      return (yield* Effect.forEach(runs, shownInHistory)).map(logHistoryEntry)
    }),
})
