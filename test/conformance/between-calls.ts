import { memoryStorageLayer } from "@rangewright/adapter-memory"
import {
  AuditTrail,
  Blueprints,
  Groups,
  Machines,
  MigrationRecords,
  Ranges,
  RunJournal,
  Sources,
  Users,
} from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ServiceOptions } from "../../packages/adapter-http/test/support.ts"

const ports = [AuditTrail, Blueprints, Groups, Machines, MigrationRecords, Ranges, RunJournal, Sources, Users] as const
export type StoragePort = Context.Service.Identifier<(typeof ports)[number]>

/** An effect that runs once, before the call of a storage port with the given number, counted from `arm`. */
export interface BetweenCalls {
  readonly storage: NonNullable<ServiceOptions["storage"]>
  /** `at` 0: never; calls are only counted. */
  readonly arm: (at: number, happens: Effect.Effect<unknown, unknown, StoragePort>) => void
  /** The number of calls since `arm`. */
  readonly disarm: () => number
}

/** Storage that runs an effect between two calls of its ports. Calls of that effect are not counted. */
export const betweenCalls = (over: NonNullable<ServiceOptions["storage"]> = memoryStorageLayer): BetweenCalls => {
  let count = 0
  let at = 0
  let happens: Effect.Effect<unknown, unknown, StoragePort> = Effect.void
  const hooked = Layer.effectContext(
    Effect.gen(function* () {
      const inner = yield* Effect.context<StoragePort>()
      const before = Effect.suspend(() => (++count === at ? Effect.provideContext(Effect.orDie(happens), inner) : Effect.void))
      const hook = (member: unknown): unknown =>
        typeof member === "function"
          ? (...args: readonly unknown[]) =>
              Effect.andThen(before, (member as (...args: readonly unknown[]) => Effect.Effect<unknown>)(...args))
          : Effect.andThen(before, member as Effect.Effect<unknown>)
      let context = Context.empty() as Context.Context<never>
      for (const port of ports) {
        const service = Context.getUnsafe(inner, port as never) as Readonly<Record<string, unknown>>
        const members = Object.entries(service).map(([name, member]) => [name, hook(member)])
        context = Context.add(context, port as never, Object.fromEntries(members) as never)
      }
      return context as Context.Context<StoragePort>
    }),
  )
  return {
    storage: (store) => {
      const inner = over(store)
      return Layer.provideMerge(hooked, inner) as typeof inner
    },
    arm: (number, what) => {
      count = 0
      at = number
      happens = what
    },
    disarm: () => {
      at = 0
      return count
    },
  }
}
