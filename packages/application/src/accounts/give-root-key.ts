import { type Fault, rootUserId } from "@rangewright/domain"
import { CredentialHasher, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { newApiKey, newRecordId, newTokenKey } from "./identity.ts"

/**
 * Gives ROOT, the bootstrap administrator, an API key: a new one unless one is given. Creates ROOT if missing; an older key of it no longer
 * works.
 */
export const giveRootKey = (given?: string): Effect.Effect<string, Fault, CredentialHasher | Users> =>
  Effect.gen(function* () {
    const users = yield* Users
    const hasher = yield* CredentialHasher
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
