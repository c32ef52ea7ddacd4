import { parseDuration } from "./duration.ts"
import type { Range } from "./range.ts"

const hour = 3_600_000

/** The longest time for which somebody may keep a range on. */
export const stayOnAtMostHours = 7 * 24

/** A stored time that is this many milliseconds later than one to be stored now was written before the clock was set back. */
export const setBackBy = { lastActive: 24 * hour, stayOn: stayOnAtMostHours * hour } as const

/** Whether a time replaces the stored one. */
export const isNewer = (at: Date, stored: Date | undefined, setBackMillis: number): boolean =>
  stored === undefined || at > stored || stored.getTime() - at.getTime() > setBackMillis

/** When a range was last used or changed. `stamped`: a use that is not stored yet. A time after `now` says nothing: the clock was set. */
export const lastUse = (
  { createdAt, lastActiveAt, lastDeploymentAt }: Pick<Range, "createdAt" | "lastActiveAt" | "lastDeploymentAt">,
  stamped: Date | undefined,
  lastRunEnd: Date | undefined,
  now: number,
): Date => {
  const times = [createdAt, lastActiveAt, lastDeploymentAt, stamped, lastRunEnd].map((at) => at?.getTime() ?? 0)
  return new Date(Math.max(...times.filter((at) => at <= now), 0))
}

/** Until when somebody wants the range to stay on; undefined if nobody does now. */
export const staysOnUntil = ({ stayOnUntil }: Pick<Range, "stayOnUntil">, now: number): Date | undefined => {
  const left = (stayOnUntil?.getTime() ?? 0) - now
  return left > 0 && left <= setBackBy.stayOn ? stayOnUntil : undefined
}

/** The earliest time at which a range is shut down if nobody uses it until then; undefined: never. */
export const idleEnd = (
  range: Pick<Range, "autoShutdown" | "stayOnUntil">,
  serverDefault: string,
  idleSince: Date,
  now: number,
): Date | undefined => {
  const limit = parseDuration(range.autoShutdown ?? serverDefault) ?? 0
  return limit === 0 ? undefined : new Date(Math.max(idleSince.getTime() + limit, staysOnUntil(range, now)?.getTime() ?? 0))
}
