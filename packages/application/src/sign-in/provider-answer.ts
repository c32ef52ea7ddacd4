import { originOf } from "@rangewright/domain"
import { CodeRefused, CredentialHasher, IdentityProvider, Identities } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { RequestMeta } from "../operation/request-meta.ts"
import { configuredSingleSignOn, returnUrl } from "./configured.ts"
import { type Proof, proofOf } from "./proof.ts"
import { SignIns } from "./sign-ins.ts"

/** Codes have no standard length; those that contain a token have thousands of characters. */
const Code = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4096))

/** What the provider gave the browser on its way back to the page. */
export const ProviderAnswer = Schema.Struct({
  code: Code,
  state: Schema.String.check(Schema.isMaxLength(255)),
  issuer: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(512))),
})

/** The same from a client that keeps the verifier itself. */
export const ClientAnswer = Schema.Struct({
  provider: Schema.String,
  code: Code,
  codeVerifier: Schema.String.check(Schema.isMaxLength(128)),
  redirectURL: Schema.String.check(Schema.isMaxLength(2048)),
  createData: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
})

const over = new CodeRefused({
  because: "this browser has not started this sign-in, has started another one since, or took longer than ten minutes",
})

interface Redeemed {
  readonly operation: string
  readonly meta: RequestMeta
  readonly code: string
  readonly issuer: string | undefined
  readonly redirectUrl: string
}

/** The person who signed in at the provider. Each sign-in can be used once. */
export const personOf = Effect.fnUntraced(function* (proof: Proof | undefined, { operation, meta, ...answer }: Redeemed) {
  const provider = yield* IdentityProvider
  const signIns = yield* SignIns
  const identities = yield* Identities
  const { claim } = yield* configuredSingleSignOn
  if (proof === undefined) return yield* over
  const { verifier, nonce, state, expiresAt } = proof
  const whose = originOf(meta.remote)
  const asked = provider.redeem({
    ...answer,
    verifier,
    nonce,
    whose,
    wanted: claim === undefined ? [] : [claim],
  })
  let refusal = over
  const judged = asked.pipe(
    Effect.map((person) => ({ user: undefined, right: true, person })),
    Effect.catchTag("CodeRefused", (fault) => {
      refusal = fault
      return Effect.succeed({ user: undefined, right: false, person: undefined })
    }),
  )
  const attempt = { operation, account: undefined, address: meta.remote }
  const person = (yield* signIns.attempt(attempt, judged))?.person
  if (person === undefined) return yield* refusal
  if (!(yield* identities.spend({ hash: state, expiresAt }))) return yield* new CodeRefused({ because: "it was used before" })
  return person
})

/** The same for our own page, where the browser stores the verifier and sends the state that it began with. */
export const personOnPage = Effect.fnUntraced(function* (
  operation: string,
  answer: typeof ProviderAnswer.Type,
  meta: RequestMeta,
) {
  const { code, state, issuer } = answer
  const hasher = yield* CredentialHasher
  const sso = yield* configuredSingleSignOn
  const proof = yield* proofOf((meta.signIn ?? "").split("~")[0] ?? "")
  const isOwn = proof !== undefined && hasher.equal(proof.state, state)
  return yield* personOf(isOwn ? proof : undefined, { operation, meta, code, issuer, redirectUrl: returnUrl(sso) })
})
