import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { CrashGate } from "./crash-gate.ts"

/** A gate at which a process stalls, as if stopped by a signal: none of its port calls returns, and none begins. */
export interface PauseGate extends CrashGate {
  readonly paused: () => boolean
  /** The calls from here on. */
  readonly wake: () => void
  /** The calls that began after it woke. */
  readonly since: readonly string[]
}

/** `pauseAt`: the call (from 1) on whose return the process stalls; its effect has happened. */
export const makePauseGate = (pauseAt: number): PauseGate => {
  const trace: string[] = []
  const since: string[] = []
  const awake = Deferred.makeUnsafe<void>()
  let state: "before" | "paused" | "woken" = "before"

  const stand = Effect.suspend(() => (state === "paused" ? Deferred.await(awake) : Effect.void))
  /**
   * The rest of the process continues for a moment here, unlike in a process stopped by a signal. The calls that it reaches then are
   * never made, except for the store's own fences.
   */
  const enter = (name: string) =>
    Effect.suspend(() => (state === "paused" && !name.startsWith("RunJournal.") ? Effect.never : stand))
  const through = (name: string, effect: Effect.Effect<unknown, unknown>) => {
    const begun = Effect.sync(() => {
      if (state === "woken") since.push(name)
    })
    const returned = Effect.suspend(() => {
      trace.push(name)
      if (state === "before" && trace.length === pauseAt) state = "paused"
      return stand
    })
    return enter(name).pipe(
      Effect.andThen(begun),
      Effect.andThen(effect),
      Effect.onExit(() => returned),
    )
  }
  const guard = <S extends object>(port: string, service: S): S =>
    Object.fromEntries(
      Object.entries(service).map(([method, member]: [string, unknown]) => {
        const name = `${port}.${method}`
        if (Effect.isEffect(member)) return [method, through(name, member as Effect.Effect<unknown, unknown>)]
        if (typeof member !== "function") return [method, member]
        return [
          method,
          (...args: readonly unknown[]) => {
            const result: unknown = Reflect.apply(member, service, args)
            return Effect.isEffect(result) ? through(name, result as Effect.Effect<unknown, unknown>) : result
          },
        ]
      }),
    ) as S

  return {
    points: () => trace.length,
    dead: () => false,
    died: Effect.never,
    trace,
    guard,
    paused: () => state === "paused",
    wake: () => {
      state = "woken"
      Deferred.doneUnsafe(awake, Effect.void)
    },
    since,
  }
}
