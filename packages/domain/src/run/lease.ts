/**
 * Whether a lease until then is in force now, by milliseconds of one clock, for somebody who asks for so many seconds. One that ends further
 * away than any lease could was written before that clock was set back or began anew: it would keep a run of a dead worker for as long as that.
 */
export const isLeaseInForce = (until: number, now: number, seconds: number): boolean =>
  until > now && until - now < 2 * seconds * 1000
