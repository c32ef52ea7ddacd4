/**
 * Whether a lease that ends at `until` is in force, in milliseconds of one clock, for a claim of so many seconds. An end further away than any
 * lease could last was written before that clock was set back or restarted: it would block a dead worker's run for all that time.
 */
export const isLeaseInForce = (until: number, now: number, seconds: number): boolean =>
  until > now && until - now < 2 * seconds * 1000
