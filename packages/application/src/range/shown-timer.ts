import { installation, type Range, staysOnUntil } from "@rangewright/domain"
import { Machines, RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Activity } from "../activity.ts"
import { Settings } from "../settings.ts"
import { autoShutdown, type KeptAlive } from "../wire/auto-shutdown.ts"
import { idleTimer } from "./idle-timer.ts"

/** The range's auto-shutdown in operations' answers. */
export const shownTimer = Effect.fnUntraced(function* (range: Range) {
  const activity = yield* Activity
  const journal = yield* RunJournal
  const machines = yield* Machines
  const { inactivityShutdown } = yield* Settings
  const { running, run, idleSince, lastUse, endsAt } = yield* idleTimer(range, yield* machines.ofRange(range.id))
  if (running.length === 0)
    return autoShutdown(range, inactivityShutdown, {
      idleSince: undefined,
      lastUse: undefined,
      stopsAt: undefined,
      keptAliveBy: [],
    })
  const now = yield* Clock.currentTimeMillis
  const other = yield* journal.active(installation)
  const stayOnUntil = staysOnUntil(range, now)
  const session = activity.keptOnBecause(range.id)
  const keptAliveBy: readonly KeptAlive[] = [
    ...(run === undefined ? [] : [{ kind: "run" as const, text: `run ${run.id} is changing the range` }]),
    ...(other === undefined ? [] : [{ kind: "run" as const, text: `run ${other.id} is changing the whole installation` }]),
    ...(stayOnUntil === undefined
      ? []
      : [{ kind: "request" as const, text: `somebody requested it until ${stayOnUntil.toISOString()}` }]),
    // use since then has moved the end
    ...(session === undefined || endsAt === undefined || endsAt.getTime() > now
      ? []
      : [{ kind: "session" as const, text: session }]),
  ]
  return autoShutdown(range, inactivityShutdown, {
    idleSince: run === undefined ? idleSince : undefined,
    lastUse: run === undefined ? lastUse : undefined,
    stopsAt: run === undefined ? endsAt : undefined,
    keptAliveBy,
  })
})
