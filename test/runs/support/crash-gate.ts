import * as Effect from "effect/Effect"

/**
 * Counts the moments before and after every call of the ports, and kills the process at one of them: from then on every call dies
 * without any effect, as in a dead process.
 */
export interface CrashGate {
  /** Moments passed so far. */
  readonly points: () => number
  readonly dead: () => boolean
  /** Ends when the process dies. */
  readonly died: Effect.Effect<void>
  /** The call at each moment, for the message of a failing test. */
  readonly trace: readonly string[]
  /** The same port behind the gate. */
  readonly guard: <S extends object>(port: string, service: S) => S
}

/** A gate that compares what outlives the process from moment to moment. */
export interface WatchingGate extends CrashGate {
  /** The moments at which it had changed. A death at any other moment leaves the same state as a death one moment earlier. */
  readonly distinct: () => readonly number[]
}

/** Data as text, maps and sets by their entries; functions are left out. */
const textOf = (data: unknown): string =>
  JSON.stringify(data, (_name, value: unknown) => (value instanceof Map || value instanceof Set ? [...value] : value))

/**
 * `crashAt`: the moment (from 1) of the process's death; undefined: never. `outlives`: what a new process finds if this one dies now.
 * `changed` is called at each of the distinct moments.
 */
export const makeCrashGate = (
  crashAt?: number,
  outlives?: () => unknown,
  changed: (moment: string) => void = () => undefined,
): WatchingGate => {
  const trace: string[] = []
  const distinct: number[] = []
  let before: string | undefined
  let dead = false
  const death = Promise.withResolvers<void>()

  const pass = (moment: string) =>
    Effect.suspend(() => {
      if (dead) return Effect.die(new Error("the process is dead"))
      trace.push(moment)
      const now = outlives && textOf(outlives())
      if (now === undefined || now !== before) {
        distinct.push(trace.length)
        changed(moment)
      }
      before = now
      if (trace.length !== crashAt) return Effect.void
      dead = true
      death.resolve()
      return Effect.die(new Error(`crashed ${moment}`))
    })
  const through = (name: string, effect: Effect.Effect<unknown, unknown>) =>
    pass(`before ${name}`).pipe(Effect.andThen(effect), Effect.tap(pass(`after ${name}`)))

  const guard = <S extends object>(port: string, service: S): S => {
    const entries = Object.entries(service).map(([method, member]: [string, unknown]) => {
      const name = `${port}.${method}`
      if (Effect.isEffect(member)) return [method, through(name, member as Effect.Effect<unknown, unknown>)]
      if (typeof member !== "function") return [method, member]
      const call = member as (...args: readonly unknown[]) => unknown
      return [
        method,
        (...args: readonly unknown[]) => {
          const result = call(...args)
          return Effect.isEffect(result) ? through(name, result as Effect.Effect<unknown, unknown>) : result
        },
      ]
    })
    return Object.fromEntries(entries) as S
  }

  return {
    points: () => trace.length,
    distinct: () => distinct,
    dead: () => dead,
    died: Effect.promise(() => death.promise),
    trace,
    guard,
  }
}
