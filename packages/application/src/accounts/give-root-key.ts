import { type Fault, InvalidInput, rootUserId } from "@rangewright/domain"
import { CredentialHasher, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { newApiKey, newRecordId, newTokenKey } from "./identity.ts"

/** What a request can carry and be signed in with: a second dot would make it malformed. */
const usable = new RegExp(`^${rootUserId}\\.[!-\\-/-~]+$`, "u")

/**
 * Gives ROOT, the bootstrap administrator, an API key: a new one unless one is given. Creates ROOT if missing; an older key of it no longer
 * works. Fails with `InvalidInput` for a given key that could never sign in.
 */
export const giveRootKey = (given?: string): Effect.Effect<string, Fault, CredentialHasher | Users> =>
  Effect.gen(function* () {
    const users = yield* Users
    const hasher = yield* CredentialHasher
    if (given !== undefined && !usable.test(given))
      return yield* new InvalidInput({
        what: `Cannot give ROOT this key: it must be ${rootUserId}.<secret>, the secret without dots, spaces and characters outside ASCII`,
      })
    const { key, hash } = given === undefined ? yield* newApiKey(rootUserId) : { key: given, hash: hasher.hash(given) }
    if ((yield* users.find(rootUserId)) !== undefined) yield* users.setSecrets(rootUserId, { apiKeyHash: hash })
    else
      yield* users.create({
        id: rootUserId,
        recordId: yield* newRecordId,
        name: "root",
        email: "root@rangewright.internal",
        isAdmin: true,
        hypervisorUsername: "root",
        hypervisorRealm: "pam",
        secrets: { apiKeyHash: hash, sealedPassword: undefined, tokenKey: yield* newTokenKey },
        createdAt: new Date(yield* Clock.currentTimeMillis),
      })
    return key
  })
