import { Conflict, Forbidden } from "@rangewright/domain"
import { CredentialHasher, Identities } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { configuredSingleSignOn } from "../sign-in/configured.ts"
import { linkMark } from "../sign-in/proof.ts"
import { personOnPage, ProviderAnswer } from "../sign-in/provider-answer.ts"
import { TextResult } from "../wire/common.ts"

const id = "linkIdentity"

/** The way for administrators to sign in with the provider: an e-mail address never links anybody to one. */
export const linkIdentity = operation({
  id,
  route: "POST /identity",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "connect a user to a person at the identity provider",
  summary:
    "Connect the caller to the person who has just signed in at the provider, after POST /single-sign-on with the caller's password",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  body: { type: "json", required: true, schema: ProviderAnswer, maxBytes: 8192 },
  output: { type: "session", schema: TextResult },
  statuses: {
    200: "from now on this person signs in as the caller",
    400: "a field is missing or not valid",
    401: "nobody is signed in; this browser did not start this sign-in, or the provider does not accept the code",
    403: "it was not started with the caller's password, or the request comes from a page that is not the service's",
    404: "no provider is configured",
    409: "the person or the caller is connected already",
    413: "the body is larger than 8192 bytes",
    429: "too many failed sign-ins came before; Retry-After says how many seconds to wait",
    502: "the provider is unreachable or cannot be trusted",
  },
  handle: ({ body, caller, meta }) =>
    Effect.gen(function* () {
      const hasher = yield* CredentialHasher
      const identities = yield* Identities
      const { name } = yield* configuredSingleSignOn
      const [verifier = "", mark = ""] = (meta.signIn ?? "").split("~")
      if (!hasher.equal(mark, yield* linkMark(verifier, caller.id)))
        return yield* new Forbidden({
          reason: `Cannot connect ${caller.id} to ${name}: this sign-in was not started with the password of ${caller.id}`,
          hint: "Start again under Account.",
        })
      const { issuer, subject } = yield* personOnPage(id, body, meta)
      const createdAt = new Date(yield* Clock.currentTimeMillis)
      const identity = { issuer, subject, userId: caller.id, createdAt }
      const outcome = yield* identities.link(identity, { administrators: true })
      if (outcome !== "linked")
        return yield* new Conflict({
          what: `Cannot connect ${caller.id} to ${name}: ${outcome === "user-taken" ? "you are connected to another person there" : "the person that you signed in as is already connected to a user"}`,
          hint: "Remove that connection first: DELETE /user/identity.",
        })
      return { json: { result: `You can sign in with ${name} from now on` }, cookies: { signIn: undefined } }
    }),
})
