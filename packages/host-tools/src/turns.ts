import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Lets work go on when it is its turn. */
export type Turns = <A, E, R>(whose: string, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** So much work goes on at a time, and less of one of those whose it is, so that nobody has all turns. The others wait. */
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
      // one's own turn first: who waits for it takes none of all
      ({ own }) => own.withPermit(all.withPermit(work)),
      (line) =>
        Effect.sync(() => {
          line.count -= 1
          if (line.count === 0) waiting.delete(whose)
        }),
    )
}
