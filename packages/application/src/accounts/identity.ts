import type { RecordId, UserId } from "@rangewright/domain"
import { CredentialHasher } from "@rangewright/ports"
import * as Effect from "effect/Effect"

const recordAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

/** A fresh identity for a record: 15 characters of a-z and 0-9. */
export const newRecordId: Effect.Effect<RecordId, never, CredentialHasher> = Effect.map(
  CredentialHasher,
  (hasher) => hasher.randomText(15, recordAlphabet) as RecordId,
)

/** A fresh API key, `<userID>.<40 letters and digits>`, with the hash to keep. */
export const newApiKey = (
  userId: UserId,
): Effect.Effect<{ readonly key: string; readonly hash: string }, never, CredentialHasher> =>
  Effect.map(CredentialHasher, (hasher) => {
    const key = `${userId}.${hasher.randomText(40)}`
    return { key, hash: hasher.hash(key) }
  })

/** Random text that signs a user's tokens: 50 letters and digits. */
export const newTokenKey: Effect.Effect<string, never, CredentialHasher> = Effect.map(CredentialHasher, (hasher) =>
  hasher.randomText(50),
)
