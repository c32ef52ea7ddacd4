import type { Range } from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** Go durations as they were given; `0` is never. */
export const AutoShutdown = Schema.Struct({
  autoShutdownTimeout: Schema.Struct({
    serverDefault: Schema.String,
    /** Empty: the range has none of its own. */
    rangeOverride: Schema.String,
    effective: Schema.String,
  }),
}).annotate({ identifier: "AutoShutdown" })

export const autoShutdown = (range: Pick<Range, "autoShutdown">, serverDefault: string): typeof AutoShutdown.Type => ({
  autoShutdownTimeout: {
    serverDefault,
    rangeOverride: range.autoShutdown ?? "",
    effective: range.autoShutdown ?? serverDefault,
  },
})
