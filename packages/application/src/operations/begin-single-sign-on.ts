import { InvalidInput, Unauthenticated } from "@rangewright/domain"
import { IdentityProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isPasswordOf } from "../accounts/is-password-of.ts"
import { operation } from "../operation/operation.ts"
import { configuredSingleSignOn, returnUrl } from "../sign-in/configured.ts"
import { linkMark, newProof } from "../sign-in/proof.ts"
import { SignIns } from "../sign-in/sign-ins.ts"

const id = "beginSingleSignOn"

/**
 * With a password, this begins a link, which `linkIdentity` completes. The password is required because the thief of a session could
 * otherwise gain permanent access.
 */
export const beginSingleSignOn = operation({
  id,
  route: "POST /single-sign-on",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "start to sign in with an identity provider",
  summary: "Start to sign in with the identity provider: returns the URL for the browser, and a cookie for its return",
  access: "anonymous",
  target: "none",
  body: {
    type: "json",
    required: false,
    schema: Schema.Struct({
      /** Password of the session's user, who wants to be linked to the person who signs in at the provider. */
      password: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255))),
    }),
    maxBytes: 4096,
  },
  output: { type: "session", schema: Schema.Struct({ url: Schema.String }) },
  statuses: {
    200: "the URL at the provider, and the cookie",
    400: "the page is not at the address that the provider sends browsers back to",
    401: "the password is wrong, or nobody is signed in",
    403: "the request comes from a page that is not the service's",
    404: "no provider is configured",
    413: "the body is larger than 4096 bytes",
    429: "too many wrong passwords came before; Retry-After says how many seconds to wait",
    500: "unexpected server failure",
    502: "the provider is unreachable or cannot be trusted",
  },
  handle: ({ body, caller, session, meta }) =>
    Effect.gen(function* () {
      const signIns = yield* SignIns
      const provider = yield* IdentityProvider
      const sso = yield* configuredSingleSignOn
      if (meta.page !== undefined && meta.page.origin !== sso.origin)
        return yield* new InvalidInput({
          what: `Cannot sign in with ${sso.name} from ${meta.page.origin}: the provider sends browsers back to ${sso.origin}`,
          hint: `Open ${sso.origin}/ui/ and sign in there.`,
        })
      const proof = yield* newProof
      const { verifier, nonce, state } = proof
      let signIn = verifier
      if (body?.password !== undefined) {
        const user = session === undefined ? undefined : caller
        const judge = Effect.map(isPasswordOf(user, body.password), (right) => ({ user, right }))
        const attempt = { operation: id, account: user?.email ?? "", address: meta.remote }
        const known = (yield* signIns.attempt(attempt, judge))?.user
        if (known === undefined)
          return yield* new Unauthenticated({
            reason: "The password is wrong",
            hint: "Ask an administrator for an invitation: with it you set a new password.",
          })
        signIn = `${verifier}~${yield* linkMark(verifier, known.id)}`
      }
      const { url } = yield* provider.authorization({ verifier, nonce, state, redirectUrl: returnUrl(sso) })
      return { json: { url }, cookies: { signIn } }
    }),
})
