import { hasSessionEnded, type SecretSeen, type Session, type User } from "@rangewright/domain"
import { CredentialHasher, Sessions, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { newRecordId } from "../accounts/identity.ts"
import type { RequestMeta } from "../operation/request-meta.ts"

/** 43 letters and digits are 256 bits. */
const secretLength = 43
const secretForm = /^[0-9A-Za-z]{43}$/u
/** Minimum milliseconds between two writes of a session's last use, so that a request costs no write. */
const touchEvery = 5 * 60 * 1000
const longestAgent = 200

const hashOf = (hasher: CredentialHasher["Service"], secret: string): string => hasher.hash(`session ${secret}`)

/** The session of a cookie; undefined: none, or one that has ended. */
export const sessionOf = Effect.fnUntraced(function* (
  secret: string,
): Effect.fn.Return<Session | undefined, StorageFault, CredentialHasher | Sessions> {
  // anybody may send anything: only well-formed secrets are looked up
  if (!secretForm.test(secret)) return undefined
  const sessions = yield* Sessions
  const session = yield* sessions.find(hashOf(yield* CredentialHasher, secret))
  const now = new Date(yield* Clock.currentTimeMillis)
  if (session === undefined || hasSessionEnded(session, now)) return undefined
  if (now.getTime() - session.lastSeenAt.getTime() > touchEvery)
    yield* Effect.ignore(sessions.touch(session.hash, now), { log: "Warn" })
  return session
})

/**
 * Begins a session of the user; the secret is for the browser's cookie, and not stored. Undefined: the credentials that the user signed in
 * with were replaced meanwhile.
 */
export const beginSession = Effect.fnUntraced(function* (user: User, seen: SecretSeen, { remote, agent = "" }: RequestMeta) {
  const hasher = yield* CredentialHasher
  const sessions = yield* Sessions
  const secret = hasher.randomText(secretLength)
  const now = new Date(yield* Clock.currentTimeMillis)
  const session: Session = {
    id: yield* newRecordId,
    hash: hashOf(hasher, secret),
    userId: user.id,
    createdAt: now,
    lastSeenAt: now,
    remote,
    agent: agent.slice(0, longestAgent),
  }
  return (yield* sessions.begin(session, seen)) ? { secret, session } : undefined
})
