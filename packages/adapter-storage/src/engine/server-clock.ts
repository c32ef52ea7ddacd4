/**
 * Milliseconds by which a reading of the server's clock may be off: an answer that took longer was read before this process stood still. A
 * difference from this is taken for a clock that was set.
 */
const setBy = 5_000

/** Watches the server's clock, by which leases are measured, against this host's monotonic clock. */
export interface ServerClockWatch {
  /** Takes a reading of the server's clock, in milliseconds. */
  readonly saw: (server: number) => void
  /** For how many milliseconds no reading showed that the clock was set. */
  readonly steadyFor: () => number
}

export const watchServerClock = (): ServerClockWatch => {
  let difference: number | undefined
  let since = Number.NEGATIVE_INFINITY
  return {
    saw: (server) => {
      const own = performance.now()
      if (difference !== undefined && Math.abs(server - own - difference) >= setBy) since = own
      difference = server - own
    },
    steadyFor: () => performance.now() - since,
  }
}
