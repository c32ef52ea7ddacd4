import type { RunId } from "@rangewright/domain"
import { LeaseLost, monotonicMillis, RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/**
 * Goes before every call of a port that a worker makes. It costs nothing while the worker's lease is surely in force. Where the process may
 * have stood still for longer than that, it waits until the lease was renewed, and dies with `LeaseLost` when another worker has the run:
 * what the worker was about to do may long be done, and undone again. Outside of workers: nothing.
 */
export const Hold = Context.Reference<Effect.Effect<void>>("rangewright/Hold", { defaultValue: () => Effect.void })

/** A worker's hold on its run. */
export interface LeaseHold {
  readonly sure: Effect.Effect<void>
  /** Renews the lease at a third of its time, each time followed by `after`. Fails when it is lost; never ends. */
  readonly keep: (after: Effect.Effect<void>) => Effect.Effect<never, LeaseLost>
}

/** Most seconds between two tries where the store does not answer. */
const retrySeconds = 1

/** For a lease that was claimed not before `since` (of `monotonicMillis`). */
export const makeHold = Effect.fnUntraced(function* (
  runId: RunId,
  generation: number,
  leaseSeconds: number,
  since: number,
): Effect.fn.Return<LeaseHold, never, RunJournal> {
  const journal = yield* RunJournal
  const lost = new LeaseLost({ what: `run ${runId}`, generation })
  let sureUntil = since + leaseSeconds * 1000
  let renewed = Deferred.makeUnsafe<void>()

  const sure: Effect.Effect<void> = Clock.clockWith((clock) =>
    Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n) < sureUntil
      ? Effect.void
      : Effect.andThen(
          Effect.suspend(() => Deferred.await(renewed)),
          sure,
        ),
  )
  /** Whether the store has answered: silence proves nothing, and appends are fenced anyway. */
  const renew = Effect.gen(function* () {
    const asked = yield* monotonicMillis
    const held = yield* Effect.result(journal.renew(runId, generation, leaseSeconds))
    if (Result.isFailure(held)) return false
    if (!held.success) return yield* lost
    sureUntil = asked + leaseSeconds * 1000
    const waiting = renewed
    renewed = Deferred.makeUnsafe()
    Deferred.doneUnsafe(waiting, Effect.void)
    return true
  })
  return {
    sure,
    keep: Effect.fnUntraced(
      function* (after) {
        for (let answered = true; ;) {
          yield* Effect.sleep((answered ? leaseSeconds / 3 : Math.min(retrySeconds, leaseSeconds / 3)) * 1000)
          answered = yield* renew
          yield* after
        }
      },
      // nobody renews it any more: whoever waits, or cleans up, does no more than the lease lasts
      Effect.ensuring(Effect.sync(() => Deferred.doneUnsafe(renewed, Effect.die(lost)))),
    ),
  }
})

/** The ports through which work changes something. Not among them: the journal, which the store fences. */
export type FencedPorts = readonly { readonly key: string }[]

const held = <S extends object>(service: S): S => {
  const wrap = (value: unknown): unknown => {
    if (Effect.isEffect(value)) return Effect.flatMap(Hold, (sure) => Effect.andThen(sure, value))
    return typeof value === "function" ? (...args: readonly unknown[]) => wrap(Reflect.apply(value, service, args)) : value
  }
  return Object.fromEntries(Object.entries(service).map(([name, value]) => [name, wrap(value)])) as S
}

/** The same services, where every call of a fenced port waits for the worker's hold. */
export const heldServices = <R>(services: Context.Context<R>, fenced: FencedPorts): Context.Context<R> =>
  fenced.reduce<Context.Context<R>>((given, port) => {
    const key = port as Context.Key<R, object>
    return Option.match(Context.getOption(given, key), {
      onNone: () => given,
      onSome: (service) => Context.add(given, key, held(service)) as Context.Context<R>,
    })
  }, services)
