import { type RangeId, rangeSubject } from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { followable } from "../run/find-run.ts"
import { WholeNumberText } from "../wire/parameters.ts"
import { RunSummary, runSummary } from "../wire/run.ts"

const usual = 50
const most = 500

export const listRuns = operation({
  id: "listRuns",
  route: "GET /runs",
  group: "Range",
  origin: "ours",
  does: "list runs",
  summary: "Runs of the selected range, or all runs that concern the caller, newest first",
  access: "user",
  accessNote:
    "administrators see all, others those of ranges they may use, of their own sources and blueprints, and what they started",
  target: "none",
  query: { limit: Schema.optionalKey(WholeNumberText) },
  output: { type: "json", schema: Schema.Array(RunSummary) },
  statuses: {
    200: `at most ${most} runs, ${usual} unless limit says otherwise`,
    400: "limit is no whole number; userID names an unknown user",
    403: "the caller may not use the range",
    404: "the range is unknown",
  },
  handle: ({ range, user, query }) =>
    Effect.gen(function* () {
      const journal = yield* RunJournal
      const ranges = yield* Ranges
      const limit = Math.min(query.limit ?? usual, most)
      if (limit === 0) return []
      if (range === undefined && user.isAdmin) return (yield* journal.list({ limit })).map(runSummary)
      // as many are looked at as can be shown: runs about sources and blueprints are few
      const others = range === undefined ? yield* journal.list({ types: ["source", "blueprint"], limit: most }) : []
      const rangeIds: readonly RangeId[] =
        range === undefined ? [...new Set((yield* ranges.grantsOf(user.id)).map((grant) => grant.rangeId))] : [range.id]
      const runs = yield* Effect.forEach(rangeIds, (rangeId) => journal.list({ subject: rangeSubject(rangeId), limit }))
      return [...runs.flat(), ...(yield* followable(others, user))]
        .toSorted((a, b) => b.startedAt.getTime() - a.startedAt.getTime())
        .slice(0, limit)
        .map(runSummary)
    }),
})
