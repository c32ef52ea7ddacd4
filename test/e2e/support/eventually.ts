import { setTimeout as pause } from "node:timers/promises"

/** Milliseconds between two polls, and the longest wait. */
const every = 50
const patience = 150_000

/** Polls until it finds something; otherwise fails with what was seen last. */
export const eventually = async <A, S>(
  what: string,
  look: () => Promise<S>,
  found: (seen: S) => A | undefined | false,
): Promise<A> => {
  const end = performance.now() + patience
  for (;;) {
    const seen = await look()
    const result = found(seen)
    if (result !== undefined && result !== false) return result
    if (performance.now() > end) throw new Error(`${what} did not come: ${JSON.stringify(seen)}`)
    await pause(every)
  }
}
