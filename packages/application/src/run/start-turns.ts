import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Number of runs of one request that are planned and opened at once. Each plan reads the store, and may ask the hypervisor. */
const startsAtOnce = 4

/** The semaphore for starting runs of the same request; undefined if a request starts one run only. */
const StartTurns = Context.Reference<Semaphore.Semaphore | undefined>("rangewright/StartTurns", {
  defaultValue: () => undefined,
})

/** Runs that this work starts take turns to start. Their ends are awaited concurrently. */
export const startingInTurn = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(StartTurns, (turns) => Effect.provideService(work, StartTurns, turns ?? Semaphore.makeUnsafe(startsAtOnce)))

/** Runs the work for all items at once; only the starts of their runs take turns. */
export const forAllAtOnce = <A, B, E, R>(items: readonly A[], work: (item: A) => Effect.Effect<B, E, R>) =>
  startingInTurn(Effect.forEach(items, work, { concurrency: "unbounded" }))

/** Work before a run is open. It takes its turn, and must not wait for the end of a run. */
export const inStartTurn = <A, E, R>(start: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(StartTurns, (turns) => (turns === undefined ? start : turns.withPermit(start)))
