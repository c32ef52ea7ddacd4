import type { RecordId, UserId } from "./ids.ts"

/** A signed-in browser session. */
export interface Session {
  /** Identifies the session in the user's list; it is not a credential. */
  readonly id: RecordId
  /** Hash of the cookie's value, which only the browser has. */
  readonly hash: string
  readonly userId: UserId
  readonly createdAt: Date
  /** Accurate to a few minutes. */
  readonly lastSeenAt: Date
  /** Address from which the user signed in. */
  readonly remote: string
  /** The browser's user agent. */
  readonly agent: string
}

const hour = 60 * 60 * 1000
/** Maximum lifetime of a session, even if used. */
export const sessionMillis = 7 * 24 * hour
const idleMillis = 12 * hour

/** When it ends unless it is used before. */
export const sessionEndsAt = ({ createdAt, lastSeenAt }: Session): Date =>
  new Date(Math.min(createdAt.getTime() + sessionMillis, lastSeenAt.getTime() + idleMillis))

/** How much later than now a session may have been created, because clocks are not exact. */
const aheadMillis = hour

/**
 * Sessions that were created, or last seen, until these times have ended; and those that were created from a time on: the clock was set back
 * since, and by its time they would outlive their end.
 */
export const endedSessions = (
  now: Date,
): { readonly createdUntil: Date; readonly createdFrom: Date; readonly lastSeenUntil: Date } => ({
  createdUntil: new Date(now.getTime() - sessionMillis),
  createdFrom: new Date(now.getTime() + aheadMillis),
  lastSeenUntil: new Date(now.getTime() - idleMillis),
})

export const hasSessionEnded = ({ createdAt, lastSeenAt }: Session, now: Date): boolean => {
  const { createdUntil, createdFrom, lastSeenUntil } = endedSessions(now)
  return createdAt <= createdUntil || createdAt >= createdFrom || lastSeenAt <= lastSeenUntil
}
