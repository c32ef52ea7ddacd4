import { Conflict, type RangeId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Machines asked concurrently in the whole process: each takes an Ansible process that no run accounts for. */
const mostAsked = 4
/** Machines asked concurrently for one request, which never takes all turns. */
export const askedAtOnce = 2

const turns = Semaphore.makeUnsafe(mostAsked)
const asking = new Set<RangeId>()

/** Asks one machine when it is its turn. */
export const inTurn = turns.withPermit

/** Asks machines of a range. Fails while another request is asking them. `doing` completes "Cannot …". */
export const askingRange = (range: RangeId, doing: string) => {
  const begin = Effect.suspend(() => {
    if (asking.has(range))
      return Effect.fail(
        new Conflict({
          what: `Cannot ${doing}: another request is asking machines of range ${range} for their licences`,
          hint: "Wait until it has answered, and try again.",
        }),
      )
    asking.add(range)
    return Effect.void
  })
  return <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | Conflict, R> =>
    Effect.acquireUseRelease(
      begin,
      () => work,
      () => Effect.sync(() => asking.delete(range)),
    )
}
