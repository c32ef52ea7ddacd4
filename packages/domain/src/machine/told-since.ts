/** Far longer than an observation takes, in milliseconds. */
const observedWithin = 600_000

/**
 * Whether something was told after an observation, and counts more than that (milliseconds). What seems to have been told much later was told
 * before the clock was set back: it would hide what is observed for as long as that.
 */
export const isToldSince = (told: number, observed: number): boolean => told > observed && told - observed < observedWithin
