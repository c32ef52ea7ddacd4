import { InvalidInput, parseDuration, stayOnAtMostHours } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { shownTimer } from "../range/shown-timer.ts"
import { AutoShutdown } from "../wire/auto-shutdown.ts"

const hour = 3_600_000

export const extendAutoShutdown = operation({
  id: "extendAutoShutdown",
  route: "POST /range/auto-shutdown/extend",
  group: "Range",
  origin: "ours",
  does: "keep a range on",
  summary: "Keep the range on for some time from now, even if nobody uses it",
  access: "range-access",
  tier: "enterprise",
  target: "range",
  body: { type: "json", required: true, schema: Schema.Struct({ duration: Schema.String }) },
  audited: ["duration"],
  output: { type: "json", schema: AutoShutdown },
  statuses: {
    200: "the timer as it is now; an earlier request stays in force if it ends later",
    400: `duration is not one of at most ${stayOnAtMostHours} hours; the body is malformed`,
  },
  handle: ({ range, body }) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const millis = parseDuration(body.duration.trim())
      if (millis === undefined || millis === 0 || millis > stayOnAtMostHours * hour)
        return yield* new InvalidInput({
          what: `Cannot keep range ${range.id} on: ${JSON.stringify(body.duration.slice(0, 100))} is not a duration of at most ${stayOnAtMostHours} hours`,
          hint: "Write hours and minutes such as 2h or 1h30m. To keep it on for good, set autoShutdownTimeout to 0: PUT /range/auto-shutdown.",
        })
      const until = new Date((yield* Clock.currentTimeMillis) + Math.ceil(millis))
      return yield* shownTimer(yield* ranges.stayOn(range.id, until))
    }),
})
