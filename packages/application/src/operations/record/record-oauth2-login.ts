import { InvalidInput } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { operation } from "../../operation/operation.ts"
import { configuredSingleSignOn, redirectUrlsOf } from "../../sign-in/configured.ts"
import { proofOf } from "../../sign-in/proof.ts"
import { ClientAnswer, personOf } from "../../sign-in/provider-answer.ts"
import { recordSignIn } from "../../sign-in/record-sign-in.ts"
import { signInPerson } from "../../sign-in/user-of-person.ts"
import { AuthResult, authResult } from "../../wire/auth-result.ts"
import { providerName } from "./record-auth-methods.ts"

const id = "recordOAuth2Login"
const refused = (path: string, message: string) =>
  Effect.fail(new InvalidInput({ what: "Failed to authenticate.", issues: [{ path, message }] }))

/** The client checks the state that it received with the verifier; the nonce derived from the verifier is checked here. */
export const recordOAuth2Login = operation({
  id,
  route: "POST /api/collections/users/auth-with-oauth2",
  base: "/",
  group: "User",
  origin: "page",
  does: "log in with an identity provider",
  summary: "Log in with a code from the identity provider",
  access: "anonymous",
  target: "none",
  body: { type: "json", required: true, schema: ClientAnswer, maxBytes: 16_384 },
  output: { type: "json", schema: AuthResult },
  statuses: {
    200: "a token, and the user's record",
    400: "no such provider is configured; a field is not valid",
    401: "the provider does not accept the code, or it belongs to another sign-in",
    403: "this person may not sign in",
    413: "the body is larger than 16384 bytes",
    429: "too many failed sign-ins came before; Retry-After says how many seconds to wait",
    502: "the provider is unreachable or cannot be trusted",
  },
  handle: ({ body, meta }) =>
    Effect.gen(function* () {
      const { provider, code, codeVerifier, redirectURL: redirectUrl } = body
      const sso = yield* Effect.option(configuredSingleSignOn)
      if (sso._tag === "None" || provider !== providerName) return yield* refused("provider", "no such provider is configured")
      if (!redirectUrlsOf(sso.value).includes(redirectUrl))
        return yield* refused("redirectURL", "the operator did not name this address (oidc_redirect_urls)")
      const proof = yield* proofOf(codeVerifier)
      const person = yield* personOf(proof, { operation: id, meta, code, issuer: undefined, redirectUrl })
      const { user, opened, isNew, detail } = yield* signInPerson(person, authResult)
      yield* recordSignIn(id, user, meta, detail)
      return { ...opened, meta: { isNew } }
    }),
})
