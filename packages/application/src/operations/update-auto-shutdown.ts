import { InvalidInput, parseDuration } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { shownTimer } from "../range/shown-timer.ts"
import { AutoShutdown } from "../wire/auto-shutdown.ts"

export const updateAutoShutdown = operation({
  id: "updateAutoShutdown",
  route: "PUT /range/auto-shutdown",
  group: "Range",
  does: "set the auto-shutdown of a range",
  summary: "Set how long this range may be idle before it is shut down",
  access: "range-access",
  tier: "enterprise",
  target: "range",
  body: { type: "json", required: true, schema: Schema.Struct({ autoShutdownTimeout: Schema.String }) },
  output: { type: "json", schema: AutoShutdown },
  statuses: {
    200: "the idle times now in force",
    400: "the text is not a duration; the body is malformed",
  },
  handle: ({ range, body }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const text = body.autoShutdownTimeout.trim()
      if (text !== "" && parseDuration(text) === undefined)
        return yield* new InvalidInput({
          what: `Cannot set the auto-shutdown of range ${range.id}: ${JSON.stringify(text.slice(0, 100))} is not a duration`,
          hint: "Write hours, minutes and seconds such as 4h, 30m or 1h30m; 0 never shuts down; an empty text takes the server's default.",
        })
      const changed = yield* ranges.change(range.id, { autoShutdown: text === "" ? undefined : text })
      return yield* shownTimer(changed)
    }),
})
