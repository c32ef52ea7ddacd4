import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"
import { AutoShutdown, autoShutdown } from "../wire/auto-shutdown.ts"
import { rangeStatuses } from "../wire/statuses.ts"

export const getAutoShutdown = operation({
  id: "getAutoShutdown",
  route: "GET /range/auto-shutdown",
  group: "Range",
  does: "read the auto-shutdown of a range",
  summary: "How long a range may be idle before it is shut down",
  access: "range-access",
  tier: "enterprise",
  target: "range",
  output: { type: "json", schema: AutoShutdown },
  statuses: {
    200: "the idle times in force",
    ...rangeStatuses,
    403: "the caller may not use the range; the licence does not include it",
  },
  handle: ({ range }) => Effect.map(Settings, (settings) => autoShutdown(range, settings.inactivityShutdown)),
})
