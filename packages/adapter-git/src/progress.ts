import type { ContentProgress, FetchRequest } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import type * as Cause from "effect/Cause"

/** Events buffered for a slow listener; older ones are dropped, because only the newest numbers matter. */
const waiting = 16

/** Passes progress from callbacks to the listener's effect. `delivered` runs the work and ends once the listener has seen the rest. */
export const progressOf = (listener: FetchRequest["progress"]) => {
  if (listener === undefined) return { report: () => {}, delivered: <A, E>(work: Effect.Effect<A, E>) => work }
  let send: (progress: ContentProgress) => void = () => {}
  let last = ""
  const report = (progress: ContentProgress): void => {
    const { phase, item, done, total } = progress
    // one event per percent is enough, and one for the end of each phase
    const share = total === undefined || total === 0 ? done : Math.floor((done / total) * 100)
    const now = `${phase} ${item} ${share}`
    if (now === last) return
    last = now
    send(progress)
  }
  const delivered = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.gen(function* () {
      const queue = yield* Queue.sliding<ContentProgress, Cause.Done>(waiting)
      send = (progress) => void Queue.offerUnsafe(queue, progress)
      const listening = yield* Effect.forkChild(
        Effect.ignore(Effect.forever(Effect.flatMap(Queue.take(queue), listener), { disableYield: true })),
      )
      return yield* Effect.ensuring(
        work,
        Effect.andThen(Queue.end(queue), () => Fiber.await(listening)),
      )
    })
  return { report, delivered }
}
