import { InvalidInput } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { longRead, Requester } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { logParts, runLogText } from "../range/run-log.ts"
import { findRun, runAccess } from "../run/find-run.ts"
import { findLines } from "../run/log-lines.ts"
import { BooleanText, WholeNumberText } from "../wire/parameters.ts"
import { RunLogPage, runLogPage } from "../wire/run-log.ts"
import { runStatuses } from "../wire/statuses.ts"

const usual = 1000
const most = 10_000

export const getRunLog = operation({
  id: "getRunLog",
  route: "GET /runs/{runID}/log",
  group: "Range",
  origin: "ours",
  does: "read the log of a run",
  summary:
    "Lines of a run's log: the last ones, those from a line or an event onward, those of a step, or those that contain a text; with download, the whole log as a file",
  access: "range-access",
  accessNote: runAccess,
  target: "none",
  path: { runID: Schema.String },
  query: {
    from: Schema.optionalKey(WholeNumberText),
    seq: Schema.optionalKey(WholeNumberText),
    lines: Schema.optionalKey(WholeNumberText),
    step: Schema.optionalKey(Schema.String),
    find: Schema.optionalKey(Schema.String),
    download: Schema.optionalKey(BooleanText),
  },
  output: { type: "json-or-download", schema: RunLogPage, contentType: "text/plain; charset=utf-8" },
  statuses: {
    200: `at most ${most} lines, ${usual} unless lines says otherwise; or the file`,
    ...runStatuses,
    400: "from, seq or lines is not a whole number, or both from and seq are given; download is not a boolean",
  },
  handle: ({ path, query, user }) =>
    Effect.gen(function* () {
      const run = yield* findRun(path.runID, user)
      if (query.download === true) {
        const bytes = runLogText(run).pipe(
          Stream.provideService(RunJournal, yield* RunJournal),
          Stream.provideService(Requester, yield* Requester),
          Stream.encodeText,
        )
        return { download: { name: `${run.kind}-${run.id}`, ending: ".log", bytes } }
      }
      if (query.from !== undefined && query.seq !== undefined)
        return yield* new InvalidInput({
          what: `Cannot read the log of run ${run.id}: both from and seq say where to begin`,
          hint: "Give the number of a line (from) or of an event (seq).",
        })
      const { parts, lastSeq } = yield* longRead(logParts(run))
      const asked = { ...query, lines: Math.min(query.lines ?? usual, most) }
      return { json: runLogPage(findLines(parts, asked), lastSeq) }
    }),
})
