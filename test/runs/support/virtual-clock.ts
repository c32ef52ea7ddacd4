import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { onTestFinished } from "vitest"

interface Timer {
  readonly at: number
  readonly wake: () => void
}

/** Turns of the event loop without a new timer after which everything counts as asleep; more than any chain of waking fibers takes. */
const idleTurns = 12

export interface VirtualClock extends Clock.Clock {
  readonly now: () => number
  /** Calls back once, this many milliseconds from now; returns what cancels it. Callbacks due at one instant run in order of scheduling. */
  readonly schedule: (millis: number, call: () => void) => () => void
  /** Says that something is awake that yields to others: time stands still until it sleeps. */
  readonly stir: () => void
}

/**
 * A clock whose time jumps to the next timer as soon as everything sleeps. Programs without real input or output run in no time, and
 * see exactly the time they asked for. Time ends with the test that makes the clock.
 */
export const makeVirtualClock = (start = Date.UTC(2030, 0, 1)): VirtualClock => {
  let now = start
  let timers: Timer[] = []
  let turns = 0
  let armed = false
  let ended = false

  const turn = (): void => {
    if (ended || timers.length === 0) {
      armed = false
      return
    }
    if (turns-- <= 0) {
      now = Math.max(now, Math.min(...timers.map(({ at }) => at)))
      const due = timers.filter(({ at }) => at <= now)
      timers = timers.filter(({ at }) => at > now)
      for (const { wake } of due) wake()
      turns = idleTurns
    }
    setImmediate(turn)
  }
  const arm = (): void => {
    turns = idleTurns
    if (armed || ended) return
    armed = true
    setImmediate(turn)
  }
  // processes that a test killed or left keep sleeping: they would wake each other forever
  onTestFinished(() => {
    ended = true
  })
  const schedule = (millis: number, wake: () => void): (() => void) => {
    const timer: Timer = { at: now + Math.max(0, millis), wake }
    timers.push(timer)
    arm()
    return () => {
      timers = timers.filter((other) => other !== timer)
    }
  }
  const nanos = (): bigint => BigInt(Math.round(now)) * 1_000_000n

  return {
    now: () => now,
    schedule,
    stir: () => {
      turns = idleTurns
    },
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const millis = Duration.toMillis(duration)
        // forever: nothing wakes it
        if (!Number.isFinite(millis)) return
        return Effect.sync(schedule(millis, () => resume(Effect.void)))
      }),
  }
}
