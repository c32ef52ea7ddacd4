import type { ProvenPerson } from "@rangewright/domain"
import { CodeRefused, IdentityProvider, ProviderFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** An identity provider in memory. */
export interface MemoryProvider {
  /** Signed-in people by the code that the provider issued; each code is valid once. */
  readonly codes: Map<string, ProvenPerson>
  /** False simulates an unreachable provider. */
  reachable: boolean
}

export const makeMemoryProvider = (): MemoryProvider => ({ codes: new Map(), reachable: true })

/** Accepts anyone with a valid code. */
export const memoryProviderLayer = (provider: MemoryProvider): Layer.Layer<IdentityProvider> => {
  const away = new ProviderFault({ doing: "query the identity provider", reason: "unavailable", detail: "it is unreachable" })
  const whenReached = <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E | ProviderFault> =>
    Effect.suspend((): Effect.Effect<A, E | ProviderFault> => (provider.reachable ? work : Effect.fail(away)))
  return Layer.succeed(IdentityProvider, {
    authorization: ({ verifier, nonce, state, redirectUrl = "" }) =>
      whenReached(
        Effect.sync(() => {
          const challenge = `challenge of ${verifier}`
          const query = new URLSearchParams({ state, nonce, code_challenge: challenge, redirect_uri: redirectUrl })
          return { url: `https://login.example/authorize?${query.toString()}`, challenge }
        }),
      ),
    redeem: ({ code }) =>
      whenReached(
        Effect.suspend(() => {
          const person = provider.codes.get(code)
          provider.codes.delete(code)
          return person === undefined
            ? Effect.fail(new CodeRefused({ because: "the provider does not know its code" }))
            : Effect.succeed(person)
        }),
      ),
    describe: whenReached(Effect.succeed("people sign in at https://login.example")),
  })
}
