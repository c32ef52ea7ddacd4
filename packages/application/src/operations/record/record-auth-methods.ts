import { IdentityProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../../operation/operation.ts"
import { Settings } from "../../settings.ts"
import { newProof } from "../../sign-in/proof.ts"

/** The name that clients send to select the provider. */
export const providerName = "oidc"

/** A sign-in that the client may begin: it appends its own address to `authURL`, and sends `codeVerifier` with the code. */
const Provider = Schema.Struct({
  name: Schema.String,
  displayName: Schema.String,
  state: Schema.String,
  codeVerifier: Schema.String,
  codeChallenge: Schema.String,
  codeChallengeMethod: Schema.Literals(["S256"]),
  authURL: Schema.String,
  authUrl: Schema.String,
})

/** The providers; none while the provider is unreachable, so that people with a password can still sign in. */
const offered = Effect.gen(function* () {
  const { singleSignOn } = yield* Settings
  if (singleSignOn === undefined) return []
  const { verifier, nonce, state } = yield* newProof
  const { authorization } = yield* IdentityProvider
  return yield* authorization({ verifier, nonce, state, redirectUrl: undefined }).pipe(
    Effect.map(({ url, challenge }): readonly (typeof Provider.Type)[] => [
      {
        name: providerName,
        displayName: singleSignOn.name,
        state,
        codeVerifier: verifier,
        codeChallenge: challenge,
        codeChallengeMethod: "S256",
        authURL: url,
        authUrl: url,
      },
    ]),
    Effect.catch(({ message }) => Effect.as(Effect.logWarning(message), [])),
  )
})

const Switch = { enabled: Schema.Boolean, duration: Schema.Int }

export const recordAuthMethods = operation({
  id: "recordAuthMethods",
  route: "GET /api/collections/users/auth-methods",
  base: "/",
  group: "User",
  origin: "page",
  does: "list the ways to log in",
  summary: "The ways to log in",
  access: "anonymous",
  target: "none",
  // nobody else may read the secrets with which a client begins a sign-in
  wholeKeyOnly: true,
  output: {
    type: "json",
    schema: Schema.Struct({
      password: Schema.Struct({ identityFields: Schema.Array(Schema.String), enabled: Schema.Boolean }),
      oauth2: Schema.Struct({ providers: Schema.Array(Provider), enabled: Schema.Boolean }),
      mfa: Schema.Struct(Switch),
      otp: Schema.Struct(Switch),
      authProviders: Schema.Array(Provider),
      usernamePassword: Schema.Boolean,
      emailPassword: Schema.Boolean,
    }),
  },
  statuses: { 200: "the ways to log in" },
  handle: () =>
    Effect.map(offered, (providers) => ({
      password: { identityFields: ["email"], enabled: true },
      oauth2: { providers, enabled: providers.length > 0 },
      mfa: { enabled: false, duration: 0 },
      otp: { enabled: false, duration: 0 },
      authProviders: providers,
      usernamePassword: false,
      emailPassword: true,
    })),
})
