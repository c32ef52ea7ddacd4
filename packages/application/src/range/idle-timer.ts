import { idleEnd, lastUse, type Range, rangeSubject } from "@rangewright/domain"
import { type RangeMachine, RunJournal, type RunRecord, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Activity, type RangeUse } from "../activity.ts"
import { Settings } from "../settings.ts"

/** How long a range has been idle, and when it is shut down. */
export interface IdleTimer {
  /** Machines that are on; a range without any is not shut down. */
  readonly running: readonly RangeMachine[]
  /** The run that changes the range: it does not count as idle meanwhile. */
  readonly run: RunRecord | undefined
  readonly idleSince: Date
  /** The request since which it is idle; undefined: something else came later, or this process does not know. */
  readonly lastUse: RangeUse | undefined
  /** The earliest time at which it is shut down, unless it is used; undefined: never. */
  readonly endsAt: Date | undefined
}

export const idleTimer = Effect.fnUntraced(function* (
  range: Range,
  machines: readonly RangeMachine[],
): Effect.fn.Return<IdleTimer, StorageFault, Activity | RunJournal | Settings> {
  const activity = yield* Activity
  const journal = yield* RunJournal
  const { inactivityShutdown } = yield* Settings
  const [last] = yield* journal.list({ subject: rangeSubject(range.id), limit: 1 })
  const use = activity.lastOfRange(range.id)
  const now = yield* Clock.currentTimeMillis
  const used = lastUse(range, use?.at, last?.endedAt, now)
  const from = activity.idleCountsFrom()
  const idleSince = from === undefined || used >= from ? used : from
  return {
    running: machines.filter(({ power }) => power === "running"),
    run: last?.status === "running" ? last : undefined,
    idleSince,
    lastUse: use?.at.getTime() === idleSince.getTime() ? use : undefined,
    endsAt: idleEnd(range, inactivityShutdown, idleSince, now),
  }
})
