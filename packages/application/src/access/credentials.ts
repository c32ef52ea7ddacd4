import {
  isRecordId,
  isUserId,
  type ScopedKey,
  scopedKeyIdIn,
  type Session,
  Unauthenticated,
  type User,
  whyOver,
} from "@rangewright/domain"
import {
  CredentialHasher,
  ScopedKeys,
  type Sessions,
  TokenSigner,
  type TokenUse,
  Users,
  type StorageFault,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sessionOf } from "../sign-in/session.ts"

/** The credentials of a request, as they were sent. */
export interface Credentials {
  /** `X-API-KEY`: `<userID>.<secret>`. */
  readonly apiKey: string | undefined
  /** `Authorization`: a token, with or without `Bearer`. */
  readonly authorization: string | undefined
  /** The session cookie, if the request may use it. */
  readonly session?: string | undefined
}

/** The authenticated sender of a request. */
export interface Identity {
  readonly user: User
  /** Undefined: a key or a token was sent. */
  readonly session: Session | undefined
  /** The key that was sent, if it is a scoped one. */
  readonly key: ScopedKey | undefined
}

const howToShowAKey =
  "The command line reads your API key from LUDUS_API_KEY; other clients send X-API-KEY: <userID>.<secret>, or Authorization: Bearer <token>. An administrator can give you a new key."
const malformed = "The API key is malformed: it must be <userID>.<secret> with exactly one dot"
/** One text for an unknown user and for a wrong secret: the answer must not tell which users exist. */
const refused = "The API key is not valid"

const whole = (user: User): Identity => ({ user, session: undefined, key: undefined })

const over = ({ id }: ScopedKey, because: string): Unauthenticated =>
  new Unauthenticated({ reason: `The API key ${id} ${because}`, hint: "Create another one: POST /user/keys." })

/** The scoped key with this ID, if `apiKey` matches it. Fails when it has expired. */
function* scopedKey(
  apiKey: string,
  id: string,
): Effect.fn.Return<ScopedKey | undefined, Unauthenticated | StorageFault, ScopedKeys | CredentialHasher> {
  const keys = yield* ScopedKeys
  const hasher = yield* CredentialHasher
  const key = yield* keys.find(id)
  if (key === undefined || !hasher.verify(apiKey, key.hash)) return undefined
  const because = whyOver(key, yield* Clock.currentTimeMillis)
  return because === undefined ? key : yield* over(key, because)
}

function* byApiKey(
  apiKey: string,
): Effect.fn.Return<Identity, Unauthenticated | StorageFault, Users | CredentialHasher | ScopedKeys> {
  const dot = apiKey.indexOf(".")
  const id = apiKey.slice(0, dot)
  const secret = apiKey.slice(dot + 1)
  if (dot < 0 || !isUserId(id) || secret === "" || secret.includes("."))
    return yield* new Unauthenticated({ reason: malformed, hint: howToShowAKey })
  const users = yield* Users
  const found = yield* users.forAuthentication(id)
  const keyId = scopedKeyIdIn(secret)
  const key = found === undefined || keyId === undefined ? undefined : yield* scopedKey(apiKey, keyId)
  // the hash covers the user ID too, so no key is valid for another user
  if (found !== undefined && key !== undefined && key.userId === id) return { user: found.user, session: undefined, key }
  const hash = found?.secrets.apiKeyHash ?? ""
  const hasher = yield* CredentialHasher
  if (found !== undefined && hasher.verify(apiKey, hash)) return whole(found.user)
  if (found === undefined || !(yield* hasher.verifyFirstGeneration(apiKey, hash)))
    return yield* new Unauthenticated({ reason: refused, hint: howToShowAKey })
  // replaces the slow hash of an imported key, so that it costs its time once; a key that was reset meanwhile stays invalid
  yield* Effect.ignore(users.setSecrets(id, { apiKeyHash: hasher.hash(apiKey) }, { whileApiKeyHash: hash }))
  return whole(found.user)
}

/** The user named by a valid token for this use, with secrets; undefined: the token is not valid. */
export const userOfToken = Effect.fnUntraced(function* (token: string, use: TokenUse) {
  const signer = yield* TokenSigner
  const recordId = signer.subject(token)
  if (recordId === undefined || !isRecordId(recordId)) return undefined
  const users = yield* Users
  const named = yield* users.findByRecordId(recordId)
  const found = named === undefined ? undefined : yield* users.forAuthentication(named.id)
  if (found === undefined) return undefined
  const now = new Date(yield* Clock.currentTimeMillis)
  return (yield* signer.verify(token, found.secrets.tokenKey, use, now)) ? found : undefined
})

const byToken = (authorization: string): Effect.Effect<Identity | undefined, StorageFault, Users | TokenSigner> =>
  Effect.map(userOfToken(authorization.replace(/^bearer\s+/iu, "").trim(), "auth"), (found) => found && whole(found.user))

function* bySession(secret: string): Effect.fn.Return<Identity | undefined, StorageFault, Users | CredentialHasher | Sessions> {
  const users = yield* Users
  const session = yield* sessionOf(secret)
  const user = session === undefined ? undefined : yield* users.find(session.userId)
  return user === undefined ? undefined : { user, session, key: undefined }
}

function* identify({
  apiKey,
  authorization,
  session,
}: Credentials): Effect.fn.Return<
  Identity | undefined,
  Unauthenticated | StorageFault,
  Users | CredentialHasher | ScopedKeys | TokenSigner | Sessions
> {
  if (apiKey !== undefined) return yield* byApiKey(apiKey)
  if (authorization !== undefined) return yield* byToken(authorization)
  return session === undefined ? undefined : yield* bySession(session)
}

/**
 * The owner of the credentials; undefined: nobody. An API key takes precedence over a token, and a wrong one fails the request. An invalid
 * or expired token counts as none, and so does a session. A session is used only when neither of the others is sent.
 */
export const authenticate = Effect.fnUntraced(identify)

const nobody = (credentials: Credentials): Unauthenticated =>
  credentials.session === undefined || credentials.apiKey !== undefined || credentials.authorization !== undefined
    ? new Unauthenticated({ reason: "The request carries no valid credentials", hint: howToShowAKey })
    : new Unauthenticated({ reason: "The session has ended", hint: "Sign in again." })

/** `requireCaller` for other generators of the request path. */
export function* callerOf(
  credentials: Credentials,
): Effect.fn.Return<Identity, Unauthenticated | StorageFault, Users | CredentialHasher | ScopedKeys | TokenSigner | Sessions> {
  return (yield* identify(credentials)) ?? (yield* nobody(credentials))
}

/** As `authenticate`, but fails when nobody is authenticated. */
export const requireCaller = Effect.fnUntraced(callerOf)
