import { SealBroken } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto"
import { KeyUnusable } from "./faults.ts"
import { readSecretFile } from "./secret-file.ts"

const version = "p1"
const [saltBytes, nonceBytes, tagBytes, keyBytes] = [16, 12, 16, 32]
const fewestCharacters = 12

/** 128 MiB and about half a second for each try (RFC 7914), as the sealed text may be stolen and attacked offline. Part of the format. */
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 }

const keyFrom = (passphrase: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFC"), salt, keyBytes, cost, (error, key) => (error === null ? resolve(key) : reject(error)))
  })

/** Seals a text with a passphrase: scrypt and AES-256-GCM; base64url of salt, nonce, tag, ciphertext. */
export const sealWithPassphrase = (passphrase: string, plain: string): Effect.Effect<string> =>
  Effect.promise(async () => {
    const [salt, nonce] = [randomBytes(saltBytes), randomBytes(nonceBytes)]
    const cipher = createCipheriv("aes-256-gcm", await keyFrom(passphrase, salt), nonce, { authTagLength: tagBytes })
    const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()])
    return `${version}.${Buffer.concat([salt, nonce, cipher.getAuthTag(), body]).toString("base64url")}`
  })

/** Opens a sealed text. Fails for a wrong passphrase and for damaged text alike: the two cannot be told apart. `what` is for the fault. */
export const openWithPassphrase = (passphrase: string, sealed: string, what: string): Effect.Effect<string, SealBroken> =>
  Effect.tryPromise({
    try: async () => {
      const [form, text = ""] = sealed.split(".", 2)
      const bytes = Buffer.from(text, "base64url")
      const bodyAt = saltBytes + nonceBytes + tagBytes
      if (form !== version || bytes.length < bodyAt) throw new Error("an unknown format")
      const key = await keyFrom(passphrase, bytes.subarray(0, saltBytes))
      const nonce = bytes.subarray(saltBytes, saltBytes + nonceBytes)
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagBytes })
      decipher.setAuthTag(bytes.subarray(saltBytes + nonceBytes, bodyAt))
      return Buffer.concat([decipher.update(bytes.subarray(bodyAt)), decipher.final()]).toString("utf8")
    },
    catch: () => new SealBroken({ what }),
  })

/** A passphrase from user input, without the trailing newline; fails when it is short enough to be guessed. */
export const passphraseFrom = (given: string, from: string): Effect.Effect<string, KeyUnusable> => {
  const passphrase = given.replace(/\r?\n$/u, "")
  return [...passphrase].length >= fewestCharacters
    ? Effect.succeed(passphrase)
    : Effect.fail(
        new KeyUnusable({
          what: `the passphrase in ${from}`,
          because: `it has fewer than ${fewestCharacters} characters`,
          hint: "A passphrase is five or more words that nobody would guess in combination.",
        }),
      )
}

/** The passphrase in a file of mode 0600. */
export const passphraseIn = (path: string): Effect.Effect<string, KeyUnusable> =>
  Effect.flatMap(readSecretFile(path), (text) =>
    text === undefined
      ? Effect.fail(new KeyUnusable({ what: path, because: "there is no such file", hint: "It must contain the passphrase." }))
      : passphraseFrom(text, path),
  )
