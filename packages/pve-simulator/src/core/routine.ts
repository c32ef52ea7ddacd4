import type { SimClock } from "./clock.ts"

/** Registers a callback; returns a function that stops waiting. */
export type Suspend = (resume: () => void) => () => void

/**
 * A computation that may wait. Between waits it runs synchronously on the stack that advances the clock. So a manual clock sees all effects
 * of an instant before the next one, and two runs with the same seed are the same.
 */
export type Routine<A> = Generator<Suspend, A, void>

/** A running routine. */
export interface Running {
  /** Throws `error` into the routine at its wait; does nothing if it has ended. */
  readonly interrupt: (error: Error) => void
  /** Ends the routine at its wait like a loss of power: its locks are released, its effects stay, and no callback is called. */
  readonly kill: () => void
}

/** Starts `routine` now; `done` or `failed` is called exactly once, perhaps before this returns. */
export const start = <A>(routine: Routine<A>, done: (value: A) => void, failed: (error: unknown) => void): Running => {
  let stopWaiting: (() => void) | undefined
  let ended = false
  const step = (advance: () => IteratorResult<Suspend, A>) => {
    let result: IteratorResult<Suspend, A>
    try {
      result = advance()
    } catch (error) {
      ended = true
      failed(error)
      return
    }
    if (result.done === true) {
      ended = true
      done(result.value)
      return
    }
    let resumed = false
    stopWaiting = result.value(() => {
      if (resumed || ended) return
      resumed = true
      stopWaiting = undefined
      step(() => routine.next())
    })
  }
  step(() => routine.next())
  return {
    interrupt: (error) => {
      if (ended) return
      stopWaiting?.()
      stopWaiting = undefined
      step(() => routine.throw(error))
    },
    kill: () => {
      if (ended) return
      ended = true
      stopWaiting?.()
      stopWaiting = undefined
      routine.return(undefined as A)
    },
  }
}

/** Waits `ms` simulated milliseconds. */
export function* sleep(clock: SimClock, ms: number): Routine<void> {
  yield (resume) => clock.schedule(ms, resume)
}

/** Waits for something outside simulated time. */
export function* until<A>(promise: Promise<A>): Routine<A> {
  let outcome: { readonly value: A } | { readonly error: unknown } | undefined
  yield (resume) => {
    void promise.then(
      (value) => ((outcome = { value }), resume()),
      (error: unknown) => ((outcome = { error }), resume()),
    )
    return () => undefined
  }
  // set before the routine resumes, which the compiler cannot know
  const ended = outcome as { readonly value: A } | { readonly error: unknown } | undefined
  if (ended === undefined) throw new Error("resumed before its end")
  if ("error" in ended) throw ended.error
  return ended.value
}

/**
 * Waits for a routine at most `ms` simulated milliseconds, then fails with `late()`; the routine continues, like a process that nobody
 * waits for any more.
 */
export function* within<A>(clock: SimClock, ms: number, routine: Routine<A>, late: () => Error): Routine<A> {
  let outcome: { readonly value: A } | { readonly error: unknown } | undefined
  let wake: () => void = () => undefined
  const end = (ended: NonNullable<typeof outcome>) => {
    outcome = ended
    wake()
  }
  start(
    routine,
    (value) => end({ value }),
    (error) => end({ error }),
  )
  if (outcome === undefined)
    yield (resume) => {
      const cancel = clock.schedule(ms, resume)
      wake = () => {
        cancel()
        resume()
      }
      return cancel
    }
  // set when the routine ends, which the compiler cannot know
  const ended = outcome as { readonly value: A } | { readonly error: unknown } | undefined
  if (ended === undefined) throw late()
  if ("error" in ended) throw ended.error
  return ended.value
}

/** Whether a value is a computation that may wait. */
export const isRoutine = (value: unknown): value is Routine<unknown> =>
  typeof value === "object" && value !== null && Object.prototype.toString.call(value) === "[object Generator]"
