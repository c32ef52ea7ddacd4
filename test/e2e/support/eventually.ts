import { setTimeout as pause } from "node:timers/promises"

/** Milliseconds between two polls: at first, and at most, since those of long waits would cost a service more than its work. */
const [soon, late] = [50, 300]
/** The longest wait, in milliseconds. */
const patience = 150_000

/** Polls until it finds something; otherwise fails with what was seen last. */
export const eventually = async <A, S>(
  what: string,
  look: () => Promise<S>,
  found: (seen: S) => A | undefined | false,
): Promise<A> => {
  const end = performance.now() + patience
  for (let every = soon; ; every = Math.min(every * 1.2, late)) {
    const seen = await look()
    const result = found(seen)
    if (result !== undefined && result !== false) return result
    if (performance.now() > end) throw new Error(`${what} did not come: ${JSON.stringify(seen)}`)
    await pause(every)
  }
}
