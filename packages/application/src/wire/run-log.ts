import * as Schema from "effect/Schema"
import type { LinesFound } from "../run/log-lines.ts"

/** Lines of a run's log. */
export const RunLogPage = Schema.Struct({
  /** Lines of the whole log so far. */
  total: Schema.Int,
  /** Lines that match `step` and `find`, in the whole log. */
  matches: Schema.Int,
  /** The `from` of the next page; absent: nothing follows yet. */
  next: Schema.optionalKey(Schema.Int),
  /** Last event ID in the log: the run's stream after it misses nothing. */
  lastEventID: Schema.Int,
  lines: Schema.Array(
    Schema.Struct({
      /** From 1. */
      line: Schema.Int,
      /** The event of the run's stream with this line; one event may have several lines. */
      seq: Schema.Int,
      at: Schema.String,
      /** Key of the step that it is about. */
      step: Schema.optionalKey(Schema.String),
      text: Schema.String,
    }),
  ),
}).annotate({ identifier: "RunLogPage" })

export const runLogPage = ({ total, matches, next, lines }: LinesFound, lastSeq: number): typeof RunLogPage.Type => ({
  total,
  matches,
  ...(next === undefined ? {} : { next }),
  lastEventID: lastSeq,
  lines: lines.map(({ line, seq, at, step, text }) => ({
    line,
    seq,
    at: at.toISOString(),
    ...(step === undefined ? {} : { step }),
    text,
  })),
})
