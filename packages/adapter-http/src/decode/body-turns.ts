import { CallerGone, Requester, turnsOfUsers } from "@rangewright/application"
import { Failed, type Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { Context } from "koa"
import type { HttpOptions } from "../options.ts"
import { usuallyAtOnce } from "../uploads.ts"
import { hasBody } from "./sent-text.ts"

/** Bytes of a body that is received without waiting for others. */
const small = 64 * 1024

const ended = () =>
  new Failed({
    what: "Cannot read the request: the client disconnected, or the service stopped, while it waited for other requests of the user",
    hint: "Send it again.",
  })

/** Receives a body that may have as many as `most` bytes, in its turn. */
export type InTurn = <A>(ctx: Context, most: number, receive: Effect.Effect<A, Fault>) => Effect.Effect<A, Fault>

/**
 * A body takes memory until its end, which a client may never send. So only some of a user's large bodies are received at a time; the others
 * wait, and nothing is read from their clients meanwhile.
 */
export const bodyTurns = ({ uploadsOfUser = usuallyAtOnce }: Pick<HttpOptions, "uploadsOfUser">): InTurn => {
  const turnOf = turnsOfUsers(uploadsOfUser)
  return (ctx, most, receive) => {
    if (!hasBody(ctx) || Math.min(ctx.request.length ?? most, most) <= small) return receive
    return Effect.gen(function* () {
      const user = yield* Requester
      const gone = yield* CallerGone
      let begun = false
      const begin = Effect.suspend(() => {
        begun = true
        return receive
      })
      const leave = Effect.suspend(() => (begun ? Effect.never : Effect.fail(ended())))
      return yield* Effect.raceFirst(turnOf(user).withPermit(begin), Effect.andThen(gone, leave))
    })
  }
}
