import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"
import { AutoShutdown, autoShutdown } from "../wire/auto-shutdown.ts"

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
  statuses: { 200: "the idle times in force" },
  handle: ({ range }) => Effect.map(Settings, (settings) => autoShutdown(range, settings.inactivityShutdown)),
})
