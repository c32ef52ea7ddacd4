import { CredentialHasher } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** How long a sign-in at the provider may take. */
const lastsMillis = 10 * 60_000

/**
 * Binds a sign-in at the provider together, from beginning to end. Everything is derived from the verifier, a random text that only its
 * initiator has, and from the service's key: nothing is stored, and every instance can complete a sign-in that another one began.
 */
export interface Proof {
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  readonly expiresAt: Date
}

const form = /^[0-9A-Za-z]{43}\.([0-9a-z]{1,9})$/u

const proofFor = (verifier: string, expires: number, { hash }: CredentialHasher["Service"]): Proof => ({
  verifier,
  state: hash(`state of sign-in ${verifier}`),
  // the expiry is in the verifier, and the provider's ID token contains this nonce: nobody else can create a verifier with a later expiry
  nonce: hash(`nonce of sign-in ${verifier}`),
  expiresAt: new Date(expires),
})

export const newProof = Effect.gen(function* () {
  const hasher = yield* CredentialHasher
  const expires = (yield* Clock.currentTimeMillis) + lastsMillis
  return proofFor(`${hasher.randomText(43)}.${expires.toString(36)}`, expires, hasher)
})

/** Undefined: the verifier is malformed, or the sign-in took too long. */
export const proofOf = Effect.fnUntraced(function* (
  verifier: string,
): Effect.fn.Return<Proof | undefined, never, CredentialHasher> {
  const expires = Number.parseInt(form.exec(verifier)?.[1] ?? "", 36)
  return expires > (yield* Clock.currentTimeMillis) ? proofFor(verifier, expires, yield* CredentialHasher) : undefined
})

/** Proves that the initiator of this sign-in is to be linked to the user, who has proved their password. */
export const linkMark = (verifier: string, userId: string) =>
  Effect.map(CredentialHasher, ({ hash }) => hash(`link to ${userId} by sign-in ${verifier}`))
