import { makeTurns } from "@rangewright/host-tools"
import { IdentityProvider, ProviderFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import { discovery } from "./discovery.ts"
import { guardedFetch } from "./guarded-fetch.ts"
import { issuerUrl, type OidcOptions, timeoutOf } from "./options.ts"
import { redeem } from "./redeem.ts"
import { faultOf } from "./trouble.ts"

const ask = "query the identity provider"
/** Concurrent exchanges of codes, in total and for one client network. */
const [ofAll, ofOne] = [16, 4]

const make = (options: OidcOptions): IdentityProvider["Service"] => {
  const issuer = issuerUrl(options.issuer)
  // the configuration was checked before
  if (issuer === undefined) throw new Error(`${options.issuer} is not the URL of a provider`)
  const fetch = guardedFetch(issuer, options)
  const timeout = timeoutOf(options)
  const discover = discovery(issuer, fetch, timeout)
  const turns = makeTurns(ofAll, ofOne)
  const late = new ProviderFault({ doing: ask, reason: "timeout", detail: `it does not answer within ${timeout / 1000} s` })

  const discovered = Effect.tryPromise({ try: discover, catch: (cause) => faultOf(ask, cause) }).pipe(
    Effect.catchTag("CodeRefused", ({ message }) =>
      Effect.fail(new ProviderFault({ doing: ask, reason: "broken", detail: message })),
    ),
  )
  return {
    authorization: ({ verifier, nonce, state, redirectUrl }) =>
      Effect.map(discovered, (server) => {
        const challenge = createHash("sha256").update(verifier).digest("base64url")
        const url = new URL(server.authorization_endpoint ?? "")
        url.hash = ""
        const parameters = {
          response_type: "code",
          client_id: options.clientId,
          scope: options.scopes.join(" "),
          state,
          nonce,
          code_challenge: challenge,
          code_challenge_method: "S256",
        }
        for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
        url.searchParams.delete("redirect_uri")
        return { url: `${url.href}&redirect_uri=${encodeURIComponent(redirectUrl ?? "")}`, challenge }
      }),
    redeem: (answer) =>
      Effect.gen(function* () {
        const server = yield* discovered
        return yield* Effect.tryPromise({
          try: (signal) => redeem(options, issuer, server, fetch, answer, signal),
          catch: (cause) => faultOf(ask, cause),
        })
      }).pipe((work) => turns(answer.whose, work), Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(late) })),
    describe: Effect.map(discovered, ({ authorization_endpoint: page = "" }) => `people sign in at ${new URL(page).origin}`),
  }
}

/** The configured provider. It is contacted only when somebody signs in. */
export const oidcLayer = (options: OidcOptions): Layer.Layer<IdentityProvider> =>
  Layer.sync(IdentityProvider, () => make(options))
