import { isFirstGenerationKeyHash } from "@rangewright/domain"
import { compare } from "bcryptjs"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** One at a time: a slow hash that anybody may make us compute must not take every core. */
const turn = Semaphore.makeUnsafe(1)

/** Whether a hash of the first generation was made of this key. It is computed in pieces, between which others have their turn. */
export const verifyFirstGeneration = (apiKey: string, hash: string): Effect.Effect<boolean> =>
  isFirstGenerationKeyHash(hash)
    ? turn.withPermit(
        Effect.orElseSucceed(
          Effect.tryPromise(() => compare(apiKey, hash)),
          () => false,
        ),
      )
    : Effect.succeed(false)
