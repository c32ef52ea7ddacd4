import type { RecordId, UserId } from "./ids.ts"

/** A browser in which a user is signed in. */
export interface Session {
  /** Tells it apart in the user's list; opens nothing. */
  readonly id: RecordId
  /** Of the text in the browser's cookie, which is kept nowhere else. */
  readonly hash: string
  readonly userId: UserId
  readonly createdAt: Date
  /** Give or take a few minutes. */
  readonly lastSeenAt: Date
  /** Address that signed in. */
  readonly remote: string
  /** What the browser called itself. */
  readonly agent: string
}

const hour = 60 * 60 * 1000
/** How long a session lasts, used or not. */
export const sessionMillis = 7 * 24 * hour
const idleMillis = 12 * hour

/** When it ends, unless it is used before. */
export const sessionEndsAt = ({ createdAt, lastSeenAt }: Session): Date =>
  new Date(Math.min(createdAt.getTime() + sessionMillis, lastSeenAt.getTime() + idleMillis))

export const hasSessionEnded = (session: Session, now: Date): boolean => sessionEndsAt(session) <= now
