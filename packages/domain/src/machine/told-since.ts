/** Far longer than any observation takes, in milliseconds: a process that needed this long stood still meanwhile. */
export const observedWithin = 600_000

/**
 * Whether something was recorded after an observation and so wins over it (milliseconds). A time that seems much later stems from before
 * the clock was set back, and would otherwise hide observations for just as long.
 */
export const isToldSince = (told: number, observed: number): boolean => told > observed && told - observed < observedWithin
