import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** So many runs of one request are planned and opened at once. Each plan reads the store, and may ask the hypervisor. */
const startsAtOnce = 4

/** The turns that runs of the same request take to be started; undefined where a request starts one run only. */
const StartTurns = Context.Reference<Semaphore.Semaphore | undefined>("rangewright/StartTurns", {
  defaultValue: () => undefined,
})

/** Runs that this work starts take turns to start. Their ends are awaited all together. */
export const startingInTurn = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(StartTurns, (turns) => Effect.provideService(work, StartTurns, turns ?? Semaphore.makeUnsafe(startsAtOnce)))

/** Does this for all of them at once; only the starts of their runs take turns. */
export const forAllAtOnce = <A, B, E, R>(items: readonly A[], work: (item: A) => Effect.Effect<B, E, R>) =>
  startingInTurn(Effect.forEach(items, work, { concurrency: "unbounded" }))

/** What comes before a run is open. It takes its turn, and must not wait for the end of a run. */
export const inStartTurn = <A, E, R>(start: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(StartTurns, (turns) => (turns === undefined ? start : turns.withPermit(start)))
