import { GuestFault, HypervisorFault, StorageFault } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/**
 * What happens at a call of a port. `dies`: the process ends before or after the effect of the call, and does nothing more.
 * `fails`: only this call fails, once. `hangs`: the call does not return until the process is woken.
 */
export const interruptions = ["dies before", "dies after", "fails before", "fails after"] as const
export type Interruption = (typeof interruptions)[number] | "hangs before" | "hangs after"

export interface CallGate {
  /** Calls counted since it was armed. */
  readonly calls: () => number
  readonly trace: readonly string[]
  readonly dead: () => boolean
  readonly hangs: () => boolean
  /** Starts counting. */
  readonly arm: (options?: {
    readonly at?: number
    readonly how?: Interruption
    /** Called before every counted call. */
    readonly onCall?: (nth: number) => void
    /** Called after the effect of every counted call. */
    readonly onEffect?: (nth: number) => void
  }) => void
  readonly kill: () => void
  /** Lets hanging calls continue. */
  readonly wake: () => void
  /** Resolves when the process dies or hangs. */
  readonly struck: Promise<void>
  readonly guard: <S extends object>(port: string, service: S) => S
}

const readsOnly =
  /\.(find\w*|list|grants|grantsOf|members|memberships|roleOf|ranges|stored|held|told|config|deployedConfig|overview|revision|forAuthentication|read|active|unfinished|ofRange|freshness|cluster|reservations|stages|systems|login\w*|obstacles|roles|quorate|privileges)$/u

/** Whether a call may be interrupted: all calls of the hypervisor and of machines, and writes of the store. */
const counts = (name: string): boolean => !readsOnly.test(name)

/** The error of a call that fails. After its effect, the hypervisor's answer is lost and the effect is unknown. */
const failureOf = (port: string, name: string, after: boolean) => {
  if (port === "GuestAutomation")
    return new GuestFault({
      doing: name,
      machine: "a machine",
      reason: after ? "away" : "failed",
      detail: "the test fails this call",
    })
  if (port.startsWith("Hypervisor"))
    return new HypervisorFault({ doing: name, reason: after ? "unknown-effect" : "failed", detail: "the test fails this call" })
  return new StorageFault({ doing: name, because: "the test fails this call" })
}

/** `stir` is called whenever a call yields to others. */
export const makeCallGate = (stir: () => void): CallGate => {
  const trace: string[] = []
  let armed: Parameters<CallGate["arm"]>[0]
  let calls = 0
  let dead = false
  let strike = (): void => undefined
  const struck = new Promise<void>((resolve) => {
    strike = resolve
  })
  const waking = Deferred.makeUnsafe<void>()
  let hangs = false

  const death = Effect.suspend(() => {
    dead = true
    strike()
    return Effect.die(new Error("the process is dead"))
  })
  /** All calls hang while the process is paused. */
  const passable = Effect.suspend(() => {
    if (dead) return Effect.die(new Error("the process is dead"))
    return hangs ? Deferred.await(waking) : Effect.void
  })
  const pause = Effect.suspend(() => {
    hangs = true
    strike()
    return Deferred.await(waking)
  })
  const through = (port: string, name: string, effect: Effect.Effect<unknown, unknown>) =>
    Effect.gen(function* () {
      // others get a turn between two calls, as they do when calls take time
      stir()
      yield* Effect.yieldNow
      yield* passable
      if (armed === undefined || !counts(name)) return yield* effect
      const nth = ++calls
      trace.push(name)
      const { at, how, onCall, onEffect } = armed
      onCall?.(nth)
      if (nth !== at || how === undefined) {
        const value = yield* effect
        onEffect?.(nth)
        return value
      }
      if (how === "dies before") return yield* death
      if (how === "hangs before") yield* pause
      if (how === "fails before") return yield* Effect.fail(failureOf(port, name, false))
      const value = yield* effect
      if (how === "dies after") return yield* death
      if (how === "hangs after") yield* pause
      if (how === "fails after") return yield* Effect.fail(failureOf(port, name, true))
      return value
    })

  const guard = <S extends object>(port: string, service: S): S => {
    const entries = Object.entries(service).map(([method, member]: [string, unknown]) => {
      const name = `${port}.${method}`
      if (Effect.isEffect(member)) return [method, through(port, name, member as Effect.Effect<unknown, unknown>)]
      if (typeof member !== "function") return [method, member]
      const call = member as (...args: readonly unknown[]) => unknown
      return [
        method,
        (...args: readonly unknown[]) => {
          const result = call(...args)
          if (!Effect.isEffect(result)) return result
          // describing the action says more than its kind alone
          const [first] = args
          const kind = typeof first === "object" && first !== null && "kind" in first ? ` ${String(first.kind)}` : ""
          return through(port, `${name}${kind}`, result as Effect.Effect<unknown, unknown>)
        },
      ]
    })
    return Object.fromEntries(entries) as S
  }

  return {
    calls: () => calls,
    trace,
    dead: () => dead,
    hangs: () => hangs,
    arm: (options = {}) => {
      armed = options
      calls = 0
      trace.length = 0
    },
    kill: () => {
      dead = true
      strike()
    },
    wake: () => {
      hangs = false
      Deferred.doneUnsafe(waking, Effect.void)
    },
    struck,
    guard,
  }
}
