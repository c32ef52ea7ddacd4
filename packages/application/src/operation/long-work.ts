import type { UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** Whose request it is; undefined for what the service does by itself. */
export const Requester = Context.Reference<UserId | undefined>("rangewright/Requester", { defaultValue: () => undefined })

const turn = Semaphore.makeUnsafe(1)
const turnsOfUsers = new Map<UserId | undefined, Semaphore.Semaphore>()

const turnOf = (user: UserId | undefined): Semaphore.Semaphore => {
  const own = turnsOfUsers.get(user) ?? Semaphore.makeUnsafe(1)
  turnsOfUsers.set(user, own)
  return own
}

/**
 * Does what keeps the processor for a while, such as reading a large configuration: one piece at a time, and between two pieces the service
 * answers whoever asks for something else. Users take turns, however much one of them asks for.
 */
export const longWork = <A>(work: () => A): Effect.Effect<A> =>
  Effect.flatMap(Requester, (user) =>
    turnOf(user).withPermit(turn.withPermit(Effect.andThen(Effect.yieldNow, Effect.sync(work)))),
  )
