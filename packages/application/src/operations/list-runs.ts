import { runStatuses, type UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { longRead } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { followableRuns } from "../run/followable-runs.ts"
import { CommaListText, literalsIn, TimeText, WholeNumberText } from "../wire/parameters.ts"
import { RunSummary, runSummary } from "../wire/run.ts"

const usual = 50
const most = 500

export const listRuns = operation({
  id: "listRuns",
  route: "GET /runs",
  group: "Range",
  origin: "ours",
  does: "list runs",
  summary: "Runs of the selected range, or all runs that concern the caller, newest first; the Link header leads to older ones",
  access: "user",
  accessNote:
    "administrators see all, others those of ranges they may use, of their own sources and blueprints, and what they started",
  target: "none",
  query: {
    status: Schema.optionalKey(literalsIn(runStatuses)),
    kind: Schema.optionalKey(CommaListText),
    by: Schema.optionalKey(Schema.String),
    since: Schema.optionalKey(TimeText),
    cursor: Schema.optionalKey(WholeNumberText),
    limit: Schema.optionalKey(WholeNumberText),
  },
  output: { type: "marked-json", schema: Schema.Array(RunSummary) },
  statuses: {
    200: `at most ${most} runs, ${usual} unless limit says otherwise`,
    400: "limit is not a whole number, status not a status, since not a time, cursor not from this list",
    403: "the caller may not use the range",
    404: "the range is unknown",
  },
  handle: ({ range, user, query }) =>
    Effect.gen(function* () {
      const { status: statuses, kind: kinds, by, since, cursor: before } = query
      const limit = Math.min(query.limit ?? usual, most)
      if (limit === 0) return { json: [] }
      const filter = {
        ...(statuses && { statuses }),
        ...(kinds && { kinds }),
        ...(by !== undefined && { by: by as UserId }),
        ...(since && { since }),
        ...(before !== undefined && { before }),
      }
      // one more run shows whether there is a next page
      const runs = yield* longRead(followableRuns({ ...filter, limit: limit + 1 }, user, range))
      const shown = runs.slice(0, limit)
      const last = shown.at(-1)
      return {
        json: shown.map(runSummary),
        next: runs.length > limit && last !== undefined ? { cursor: String(last.ordinal) } : undefined,
      }
    }),
})
