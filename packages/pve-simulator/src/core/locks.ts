import type { SimClock } from "./clock.ts"
import type { Routine } from "./routine.ts"

interface Waiter {
  readonly weight: number
  readonly grant: () => void
}

/**
 * A semaphore: exclusive locks, shared locks and worker slots are all weights on one capacity. Waiters that fit continue in the order in
 * which they came; a shared lock overtakes waiting exclusive ones, as with flock.
 */
interface Semaphore {
  used: number
  readonly capacity: number
  readonly queue: Waiter[]
}

/** The full capacity of a lock that can be shared. */
const WHOLE = 1_000_000

/** Named locks of the simulated machines; names without holders and waiters take no memory. */
export class Locks {
  readonly #clock: SimClock
  readonly #all = new Map<string, Semaphore>()

  constructor(clock: SimClock) {
    this.#clock = clock
  }

  /** Runs `body` with the exclusive lock `name`; fails with `onTimeout()` if it is not free within `timeoutMs`. */
  exclusive<A>(name: string, timeoutMs: number, onTimeout: () => Error, body: () => Routine<A>): Routine<A> {
    return this.#with(name, WHOLE, WHOLE, timeoutMs, onTimeout, body)
  }

  /** Runs `body` with a shared lock: together with other shared holders, but not with an exclusive one. */
  shared<A>(name: string, timeoutMs: number, onTimeout: () => Error, body: () => Routine<A>): Routine<A> {
    return this.#with(name, WHOLE, 1, timeoutMs, onTimeout, body)
  }

  /** Runs `body` in one of `capacity` slots. */
  slot<A>(name: string, capacity: number, timeoutMs: number, onTimeout: () => Error, body: () => Routine<A>): Routine<A> {
    return this.#with(name, capacity, 1, timeoutMs, onTimeout, body)
  }

  /** Whether an exclusive request for `name` would have to wait. */
  isHeld(name: string): boolean {
    return (this.#all.get(name)?.used ?? 0) > 0
  }

  *#with<A>(
    name: string,
    capacity: number,
    weight: number,
    timeoutMs: number,
    onTimeout: () => Error,
    body: () => Routine<A>,
  ): Routine<A> {
    const lock = this.#all.get(name) ?? { used: 0, capacity, queue: [] }
    this.#all.set(name, lock)
    if (lock.used + weight > lock.capacity) yield* this.#wait(name, lock, weight, timeoutMs, onTimeout)
    else lock.used += weight
    try {
      return yield* body()
    } finally {
      lock.used -= weight
      this.#grant(name, lock)
    }
  }

  *#wait(name: string, lock: Semaphore, weight: number, timeoutMs: number, onTimeout: () => Error): Routine<void> {
    let granted = false
    let waiter: Waiter | undefined
    const leave = () => {
      const at = waiter === undefined ? -1 : lock.queue.indexOf(waiter)
      if (at >= 0) lock.queue.splice(at, 1)
    }
    try {
      yield (resume) => {
        const cancelTimer = Number.isFinite(timeoutMs) ? this.#clock.schedule(timeoutMs, resume) : () => undefined
        waiter = {
          weight,
          grant: () => {
            granted = true
            cancelTimer()
            resume()
          },
        }
        lock.queue.push(waiter)
        return cancelTimer
      }
    } finally {
      leave()
      if (!granted) this.#grant(name, lock)
    }
    if (!granted) throw onTimeout()
  }

  #grant(name: string, lock: Semaphore): void {
    for (;;) {
      const at = lock.queue.findIndex(({ weight }) => lock.used + weight <= lock.capacity)
      if (at < 0) break
      const [next] = lock.queue.splice(at, 1)
      lock.used += next!.weight
      next!.grant()
    }
    if (lock.used === 0 && lock.queue.length === 0) this.#all.delete(name)
  }
}
