import type { UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** The user whose request it is; undefined for work of the service itself. */
export const Requester = Context.Reference<UserId | undefined>("rangewright/Requester", { defaultValue: () => undefined })

/** A semaphore per user, with `most` permits. */
export const turnsOfUsers = (most = 1) => {
  const turns = new Map<UserId | undefined, Semaphore.Semaphore>()
  return (user: UserId | undefined): Semaphore.Semaphore => {
    const own = turns.get(user) ?? Semaphore.makeUnsafe(most)
    turns.set(user, own)
    return own
  }
}
/** Turns of the event loop between two pieces: a small request needs several from its arrival to its answer. */
const pause = Effect.repeat(Effect.yieldNow, { times: 7 })

const turn = Semaphore.makeUnsafe(1)
const turnOfPiece = turnsOfUsers()
const turnOfRequest = turnsOfUsers()
const turnOfRead = turnsOfUsers()

/**
 * Runs synchronous work that takes the CPU for a while, such as parsing a large configuration: one piece at a time, and between two pieces
 * the service answers other requests. Users take turns, however much one of them requests.
 */
export const longWork = <A>(work: () => A): Effect.Effect<A> =>
  Effect.flatMap(Requester, (user) => turnOfPiece(user).withPermit(turn.withPermit(Effect.andThen(pause, Effect.sync(work)))))

/** Runs work with several such pieces and calls to the hypervisor between them, one at a time for each user. Must not be nested. */
export const inOwnTurn = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Requester, (user) => (user === undefined ? work : turnOfRequest(user).withPermit(work)))

/**
 * Reads and renders a lot from the store, such as the journal of a long run: one read at a time for each user, after other requests were
 * answered. Must not wait for data that is not stored yet, which would block the user's other reads, and must not be nested.
 */
export const longRead = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Requester, (user) => turnOfRead(user).withPermit(Effect.andThen(pause, read)))
