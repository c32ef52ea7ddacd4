import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** A lock for each key; keys without waiters cost nothing. */
export const keyedLock = () => {
  const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return <A, E, R>(key: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
        lock.users++
        locks.set(key, lock)
        return lock
      }),
      (lock) => lock.semaphore.withPermit(work),
      (lock) => Effect.sync(() => (--lock.users === 0 ? locks.delete(key) : false)),
    )
}
