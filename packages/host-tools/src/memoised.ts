/** Caches the answer for this many seconds. Failures are not cached. */
export const memoised = <A>(seconds: number, ask: () => Promise<A>): (() => Promise<A>) => {
  let known: { readonly until: number; readonly answer: Promise<A> } | undefined
  return () => {
    if (known === undefined || known.until < performance.now()) {
      const answer = ask()
      answer.catch(() => (known = undefined))
      known = { until: performance.now() + seconds * 1000, answer }
    }
    return known.answer
  }
}
