/** Cancels a scheduled call; has no effect once it ran. */
export type Cancel = () => void

/** The simulator's only source of time: it never sleeps or reads the machine's clock in any other way. */
export interface SimClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Simulated milliseconds per real one; absent: time passes only when the clock is advanced. */
  readonly speed?: number
  /** Calls `fn` once, `ms` simulated milliseconds from now; calls due at the same instant run in the order in which they were scheduled. */
  readonly schedule: (ms: number, fn: () => void) => Cancel
}

/** A clock on which time passes only when it is advanced. Everything due runs inside `advance`, in order, before it returns. */
export interface ManualClock extends SimClock {
  /** Advances time by `ms` and runs all calls that become due, including those scheduled meanwhile. */
  readonly advance: (ms: number) => void
  /** Advances time to the next scheduled call and runs everything due at that instant; false if nothing is scheduled. */
  readonly advanceToNext: () => boolean
  /** How many calls are scheduled. */
  readonly pending: () => number
}

interface Entry {
  readonly at: number
  readonly seq: number
  readonly fn: () => void
  cancelled: boolean
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.seq < b.seq)

/** A binary heap ordered by due time, then by the order of scheduling. */
const makeHeap = () => {
  const items: Entry[] = []
  const swap = (i: number, j: number) => {
    const held = items[i]!
    items[i] = items[j]!
    items[j] = held
  }
  return {
    peek: () => items[0],
    push: (entry: Entry) => {
      let i = items.push(entry) - 1
      while (i > 0) {
        const parent = (i - 1) >> 1
        if (!before(items[i]!, items[parent]!)) break
        swap(i, parent)
        i = parent
      }
    },
    pop: () => {
      const top = items[0]
      const last = items.pop()
      if (last === undefined || top === undefined || items.length === 0) return top
      items[0] = last
      for (let i = 0; ;) {
        const left = 2 * i + 1
        let least = i
        if (left < items.length && before(items[left]!, items[least]!)) least = left
        if (left + 1 < items.length && before(items[left + 1]!, items[least]!)) least = left + 1
        if (least === i) return top
        swap(i, least)
        i = least
      }
    },
  }
}

/** A manual clock that starts at `startMs` (default: 2026-01-01T00:00:00Z). */
export const createManualClock = (startMs: number = Date.UTC(2026, 0, 1)): ManualClock => {
  const heap = makeHeap()
  let now = startMs
  let seq = 0
  let live = 0
  const nextLive = (): Entry | undefined => {
    for (let top = heap.peek(); top !== undefined; top = heap.peek()) {
      if (!top.cancelled) return top
      heap.pop()
    }
    return undefined
  }
  const runUntil = (end: number) => {
    for (let entry = nextLive(); entry !== undefined && entry.at <= end; entry = nextLive()) {
      heap.pop()
      entry.cancelled = true
      live -= 1
      now = Math.max(now, entry.at)
      entry.fn()
    }
    now = Math.max(now, end)
  }
  return {
    now: () => now,
    schedule: (ms, fn) => {
      const entry: Entry = { at: now + Math.max(0, ms), seq: seq++, fn, cancelled: false }
      heap.push(entry)
      live += 1
      return () => {
        if (entry.cancelled) return
        entry.cancelled = true
        live -= 1
      }
    },
    advance: (ms) => runUntil(now + Math.max(0, ms)),
    advanceToNext: () => {
      const entry = nextLive()
      if (entry === undefined) return false
      runUntil(entry.at)
      return true
    },
    pending: () => live,
  }
}

/** A clock that can be set forward, so that a state saved at a later time continues from that time. */
export interface SettableClock extends SimClock {
  /** Sets the time to `ms` unless it is later already; scheduled calls keep their delay. */
  readonly notBefore: (ms: number) => void
}

/** Makes a clock settable, with all its other abilities. */
export const settable = <C extends SimClock>(clock: C): C & SettableClock => {
  let ahead = 0
  return {
    ...clock,
    now: () => clock.now() + ahead,
    schedule: (ms, fn) => clock.schedule(ms, fn),
    notBefore: (ms) => {
      ahead = Math.max(ahead, ms - clock.now())
    },
  }
}

/** Converts real milliseconds to simulated ones, for waits for people and programs outside, whose time is not simulated. */
export const realMillis = ({ speed = 1 }: SimClock, ms: number): number => ms * speed

/** The longest delay of a Node timer; longer ones are armed again. */
const LONGEST_TIMER = 2_000_000_000

/**
 * A clock that runs `speed` times as fast as real time. Simulated time starts at the machine's time.
 * Timers do not keep the process alive.
 */
export const createRealClock = (options: { readonly speed?: number } = {}): SimClock => {
  const speed = options.speed ?? 1
  if (!(speed > 0) || !Number.isFinite(speed)) throw new RangeError(`speed must be a positive number, not ${String(speed)}`)
  const origin = Date.now()
  const started = performance.now()
  const elapsed = () => (performance.now() - started) * speed
  return {
    speed,
    now: () => Math.round(origin + elapsed()),
    schedule: (ms, fn) => {
      const due = elapsed() + Math.max(0, ms)
      let timer: NodeJS.Timeout
      const arm = () => {
        const real = Math.max(0, (due - elapsed()) / speed)
        timer = setTimeout(real > LONGEST_TIMER ? arm : fn, Math.min(real, LONGEST_TIMER))
        timer.unref()
      }
      arm()
      return () => clearTimeout(timer)
    },
  }
}
