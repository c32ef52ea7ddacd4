/** Limits on wrong attempts per key, such as an address. Times are in milliseconds. */
export interface Patience {
  /** Wrong attempts without a delay. */
  readonly free: number
  /** The delay after the first one beyond them; each further one doubles it. */
  readonly first: number
  /** The maximum delay. */
  readonly longest: number
  /** Time after which one wrong attempt is forgotten. */
  readonly forgets: number
}

/** The wrong attempts of one key at a given time. The count decays over time, so it is not an integer. */
export interface WrongAttempts {
  readonly count: number
  readonly at: number
  /** When the next attempt is accepted. */
  readonly openAt: number
}

export const noWrongAttempts: WrongAttempts = { count: 0, at: 0, openAt: 0 }

const countAt = ({ count, at }: WrongAttempts, now: number, { forgets }: Patience): number =>
  Math.max(0, count - Math.max(0, now - at) / forgets)

/** The state after another wrong attempt. */
export const afterWrong = (before: WrongAttempts, now: number, patience: Patience): WrongAttempts => {
  const count = countAt(before, now, patience) + 1
  // the small decay between quick attempts must not avoid the delay
  const beyond = Math.ceil(count - 0.01) - patience.free
  const wait = beyond <= 0 ? 0 : Math.min(patience.longest, patience.first * 2 ** (beyond - 1))
  return { count, at: now, openAt: now + wait }
}
