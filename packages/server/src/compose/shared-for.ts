/** Calls that come while an earlier one is answered, or within so many milliseconds after its start, get its answer; a failure is not kept. */
export const sharedFor = <A>(millis: number, make: () => Promise<A>): (() => Promise<A>) => {
  let last: { readonly answer: Promise<A>; readonly since: number; pending: boolean } | undefined
  return () => {
    const now = performance.now()
    if (last !== undefined && (last.pending || now - last.since < millis)) return last.answer
    const made = { answer: make(), since: now, pending: true }
    last = made
    made.answer.then(
      () => {
        made.pending = false
      },
      () => {
        if (last === made) last = undefined
      },
    )
    return made.answer
  }
}
