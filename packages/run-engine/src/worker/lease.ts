import type { RunId } from "@rangewright/domain"
import { LeaseCheck, LeaseLost, monotonicMillis, RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/** The lease of a worker on its run. */
export interface WorkerLease {
  /** Returns while the lease is in force; see `LeaseCheck`. */
  readonly check: Effect.Effect<void>
  /** Renews the lease whenever a third of it has passed, and runs `after` each time. Never returns; fails when the lease is lost. */
  readonly keepRenewed: (after: Effect.Effect<void>) => Effect.Effect<never, LeaseLost>
}

/** Longest pause between two attempts while the store does not answer. */
const retrySeconds = 1

/** The lease was claimed no earlier than `since` (`monotonicMillis`). */
export const makeWorkerLease = Effect.fnUntraced(function* (
  runId: RunId,
  generation: number,
  leaseSeconds: number,
  since: number,
): Effect.fn.Return<WorkerLease, never, RunJournal> {
  const journal = yield* RunJournal
  const lost = new LeaseLost({ what: `run ${runId}`, generation })
  let validUntil = since + leaseSeconds * 1000
  let renewed = Deferred.makeUnsafe<void>()

  // an adapter may have a clock of its own, as that of the simulator, which runs faster
  const clock = yield* Clock.Clock
  const check: Effect.Effect<void> = Effect.suspend(() =>
    Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n) < validUntil
      ? Effect.void
      : Effect.andThen(
          Effect.suspend(() => Deferred.await(renewed)),
          check,
        ),
  )
  /** False when the store did not answer: that does not prove the lease lost, and appends are fenced anyway. */
  const renew = Effect.gen(function* () {
    const asked = yield* monotonicMillis
    const renewal = yield* Effect.result(journal.renew(runId, generation, leaseSeconds))
    if (Result.isFailure(renewal)) return false
    if (!renewal.success) return yield* lost
    validUntil = asked + leaseSeconds * 1000
    const waiting = renewed
    renewed = Deferred.makeUnsafe()
    Deferred.doneUnsafe(waiting, Effect.void)
    return true
  })
  return {
    check,
    keepRenewed: Effect.fnUntraced(
      function* (after) {
        for (let answered = true; ;) {
          yield* Effect.sleep((answered ? leaseSeconds / 3 : Math.min(retrySeconds, leaseSeconds / 3)) * 1000)
          answered = yield* renew
          yield* after
        }
      },
      // no more renewals: anything that still waits or cleans up stops when the lease ends
      Effect.ensuring(Effect.sync(() => Deferred.doneUnsafe(renewed, Effect.die(lost)))),
    ),
  }
})

/** The ports through which work changes things. The journal is not one of them: the store fences it. */
export type FencedPorts = readonly { readonly key: string }[]

const fencedService = <S extends object>(service: S): S => {
  const wrap = (value: unknown): unknown => {
    if (Effect.isEffect(value)) return Effect.flatMap(LeaseCheck, (check) => Effect.andThen(check, value))
    return typeof value === "function" ? (...args: readonly unknown[]) => wrap(Reflect.apply(value, service, args)) : value
  }
  return Object.fromEntries(Object.entries(service).map(([name, value]) => [name, wrap(value)])) as S
}

/** The same services, where every call of a fenced port runs `LeaseCheck` first. */
export const fencedServices = <R>(services: Context.Context<R>, fenced: FencedPorts): Context.Context<R> =>
  fenced.reduce<Context.Context<R>>((given, port) => {
    const key = port as Context.Key<R, object>
    return Option.match(Context.getOption(given, key), {
      onNone: () => given,
      onSome: (service) => Context.add(given, key, fencedService(service)) as Context.Context<R>,
    })
  }, services)
