import { CredentialHasher } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { createHmac, createSecretKey, hash as plainHash, randomInt } from "node:crypto"
import { verifyFirstGeneration } from "./bcrypt.ts"
import { keyFor, type MasterKey } from "./master-key.ts"
import { vncAnswer } from "./vnc-answer.ts"

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** Number of cached digests; a full cache is cleared. */
const mostRemembered = 1_000

/** The key for hashing API keys as long as the installation still uses its first key. */
export const firstHashKey = (master: MasterKey): Buffer => keyFor(master, "api-key")

/**
 * API keys are 40 random characters, so a keyed hash is as strong as a slow one and costs microseconds. The hash key survives a change of
 * the installation's key: API keys are not stored, so they cannot be hashed again.
 */
export const credentialHasher = (hashKey: Buffer): CredentialHasher["Service"] => {
  // a key object: creating the key from bytes for every digest would cost more than the digest
  const key = createSecretKey(hashKey)
  const keyed = (text: string): string => createHmac("sha256", key).update(text, "utf8").digest("hex")
  // every request of a client sends the same key: its plain digest takes a tenth of the time, and the key itself is not stored
  const remembered = new Map<string, string>()
  const hash = (text: string): string => {
    const seen = plainHash("sha256", text, "base64url")
    const known = remembered.get(seen)
    if (known !== undefined) return known
    if (remembered.size >= mostRemembered) remembered.clear()
    const digest = keyed(text)
    remembered.set(seen, digest)
    return digest
  }
  return {
    hash,
    // in whatever time: nobody without the key can choose a text by its digest, so how far two agree tells nothing about either text
    verify: (apiKey, stored) => hash(apiKey) === stored,
    verifyFirstGeneration,
    equal: (a, b) => hash(a) === hash(b),
    randomText: (length, alphabet = alphanumeric) => {
      let text = ""
      while (text.length < length) text += alphabet[randomInt(alphabet.length)] ?? ""
      return text
    },
    vncAnswer,
  }
}

export const credentialHasherLayer = (hashKey: Buffer): Layer.Layer<CredentialHasher> =>
  Layer.succeed(CredentialHasher, credentialHasher(hashKey))
