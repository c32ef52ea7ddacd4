import { CredentialHasher } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { createHmac, createSecretKey, randomInt } from "node:crypto"
import { keyFor, type MasterKey } from "./master-key.ts"

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** In a time that tells nothing but whether the lengths differ, without a copy of either. */
const sameDigest = (actual: string, stored: string): boolean => {
  let difference = actual.length ^ stored.length
  for (let i = 0; i < actual.length; i++) difference |= actual.charCodeAt(i) ^ stored.charCodeAt(i)
  return difference === 0
}

/** API keys are 40 random characters, so a keyed hash is as strong as a slow one and costs microseconds (contract A 17-20). */
export const credentialHasher = (master: MasterKey): CredentialHasher["Service"] => {
  // a key object: made of bytes anew for every digest, the key would cost more than the digest
  const key = createSecretKey(keyFor(master, "api-key"))
  const hash = (text: string): string => createHmac("sha256", key).update(text, "utf8").digest("hex")
  return {
    hash,
    verify: (apiKey, stored) => sameDigest(hash(apiKey), stored),
    // digests have one length, so unequal lengths take the same time
    equal: (a, b) => sameDigest(hash(a), hash(b)),
    randomText: (length, alphabet = alphanumeric) => {
      let text = ""
      while (text.length < length) text += alphabet[randomInt(alphabet.length)] ?? ""
      return text
    },
  }
}

export const credentialHasherLayer = (master: MasterKey): Layer.Layer<CredentialHasher> =>
  Layer.succeed(CredentialHasher, credentialHasher(master))
