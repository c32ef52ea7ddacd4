import { isFirstGenerationKeyHash } from "@rangewright/domain"
import { compare } from "bcryptjs"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

/** One at a time: anybody can make us compute this slow hash, so it must not occupy every core. */
const turn = Semaphore.makeUnsafe(1)

/** Whether a first-generation hash matches this key. Computed in pieces, so that other work continues in between. */
export const verifyFirstGeneration = (apiKey: string, hash: string): Effect.Effect<boolean> =>
  isFirstGenerationKeyHash(hash)
    ? turn.withPermit(
        Effect.orElseSucceed(
          Effect.tryPromise(() => compare(apiKey, hash)),
          () => false,
        ),
      )
    : Effect.succeed(false)
