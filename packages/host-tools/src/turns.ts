import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Runs work when it is its turn. */
export type Turns = <A, E, R>(whose: string, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Limits how much work runs at a time, in total and for each owner, so that nobody takes all turns. The rest waits. */
export const makeTurns = (ofAll: number, ofOne: number): Turns => {
  const all = Semaphore.makeUnsafe(ofAll)
  const waiting = new Map<string, { readonly own: Semaphore.Semaphore; count: number }>()
  return (whose, work) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const line = waiting.get(whose) ?? { own: Semaphore.makeUnsafe(ofOne), count: 0 }
        waiting.set(whose, line)
        line.count += 1
        return line
      }),
      // the owner's own turn first: work waiting for it takes no turn away from others
      ({ own }) => own.withPermit(all.withPermit(work)),
      (line) =>
        Effect.sync(() => {
          line.count -= 1
          if (line.count === 0) waiting.delete(whose)
        }),
    )
}
