import { operation } from "../operation/operation.ts"
import { shownTimer } from "../range/shown-timer.ts"
import { AutoShutdown } from "../wire/auto-shutdown.ts"

export const getAutoShutdown = operation({
  id: "getAutoShutdown",
  route: "GET /range/auto-shutdown",
  group: "Range",
  does: "read the auto-shutdown of a range",
  summary: "How long a range may be idle before it is shut down, when that is, and what keeps it on",
  access: "range-access",
  tier: "enterprise",
  target: "range",
  // who asks when it ends must not move the end
  passive: true,
  output: { type: "json", schema: AutoShutdown },
  statuses: { 200: "the idle times in force, and how the timer stands" },
  handle: ({ range }) => shownTimer(range),
})
