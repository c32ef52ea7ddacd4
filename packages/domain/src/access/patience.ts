/** How much is borne under one key, such as an address. Times are milliseconds. */
export interface Patience {
  /** Wrong attempts that cost no wait. */
  readonly free: number
  /** The wait after the first one beyond them; each further one doubles it. */
  readonly first: number
  /** The longest wait. */
  readonly longest: number
  /** In this time one wrong attempt is forgotten. */
  readonly forgets: number
}

/** The wrong attempts under one key as they stood at a time; their number shrinks with time, so it is no whole one. */
export interface WrongAttempts {
  readonly count: number
  readonly at: number
  /** When the next attempt is looked at. */
  readonly openAt: number
}

export const noWrongAttempts: WrongAttempts = { count: 0, at: 0, openAt: 0 }

const countAt = ({ count, at }: WrongAttempts, now: number, { forgets }: Patience): number =>
  Math.max(0, count - Math.max(0, now - at) / forgets)

/** After one more. */
export const afterWrong = (before: WrongAttempts, now: number, patience: Patience): WrongAttempts => {
  const count = countAt(before, now, patience) + 1
  // what is forgotten between quick attempts must not spare the wait
  const beyond = Math.ceil(count - 0.01) - patience.free
  const wait = beyond <= 0 ? 0 : Math.min(patience.longest, patience.first * 2 ** (beyond - 1))
  return { count, at: now, openAt: now + wait }
}
