import { sealedText } from "@rangewright/domain"
import { SealBroken, SecretStore } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { keyFor, keyId, type MasterKey } from "./master-key.ts"

/** Prefix of older sealed texts, which do not name their key. */
const nameless = "v1."
const nonceBytes = 12
const tagBytes = 16

/** AES-256-GCM: the key's id, and base64url of nonce, tag, ciphertext. The context is authenticated but not stored. */
export const secretStore = (master: MasterKey): SecretStore["Service"] => {
  const key = keyFor(master, "seal")
  const ours = sealedText(keyId(master), "")
  const open = (sealed: string, context: string): string => {
    const prefix = [ours, nameless].find((text) => sealed.startsWith(text))
    if (prefix === undefined) throw new Error("another key or an unknown format")
    const bytes = Buffer.from(sealed.slice(prefix.length), "base64url")
    if (bytes.length < nonceBytes + tagBytes) throw new Error("too short")
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(context, "utf8"))
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString("utf8")
  }
  return {
    seal: (plain, context) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes })
      cipher.setAAD(Buffer.from(context, "utf8"))
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()])
      return ours + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")
    },
    open: (sealed, context) =>
      Effect.try({ try: () => open(sealed, context), catch: () => new SealBroken({ what: `the secret of ${context}` }) }),
  }
}

export const secretStoreLayer = (master: MasterKey): Layer.Layer<SecretStore> => Layer.succeed(SecretStore, secretStore(master))
