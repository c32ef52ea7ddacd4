import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Runs an effect while no other one with the same key runs, in the order of the calls. */
export type KeyedLock = (key: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A lock per key, removed when nobody holds it or waits for it. */
export const keyedLock = (): KeyedLock => {
  const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (key) => (work) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
        lock.users += 1
        locks.set(key, lock)
        return lock
      }),
      ({ semaphore }) => semaphore.withPermit(work),
      (lock) =>
        Effect.sync(() => {
          lock.users -= 1
          if (lock.users === 0) locks.delete(key)
        }),
    )
}
