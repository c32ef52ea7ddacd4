import * as Effect from "effect/Effect"
import { hkdfSync, randomBytes } from "node:crypto"
import { KeyUnusable } from "./faults.ts"
import { loadOrCreateSecretFile, readSecretFile } from "./secret-file.ts"

const keyBytes = 32

/** The one secret of an installation, 32 bytes. Losing it loses every sealed secret and voids every API key. */
export interface MasterKey {
  readonly bytes: Uint8Array
}

/** A key for one purpose (HKDF-SHA-256), so that no two uses share bytes. Purposes are part of the stored format: never rename one. */
export const keyFor = ({ bytes }: MasterKey, purpose: "api-key" | "id" | "mark" | "seal" | "token"): Buffer => {
  if (bytes.length !== keyBytes) throw new RangeError(`A master key has ${keyBytes} bytes, but this one has ${bytes.length}`)
  return Buffer.from(hkdfSync("sha256", bytes, Buffer.alloc(0), `rangewright/${purpose}`, keyBytes))
}

const idBytes = 6

/** Identifies a key without revealing anything else about it: 8 characters of base64url, included in texts that the key sealed. */
export const keyId = (master: MasterKey): string => keyFor(master, "id").subarray(0, idBytes).toString("base64url")

const makeOne = "Create one with: openssl rand -base64 32"

/**
 * A key given as text, base64 or 64 hex digits. In faults, `from` says where the text came from, and `hint` what to do when it is not a
 * key; the text itself is never shown.
 */
export const masterKeyFromText = (text: string, from: string, hint = makeOne): Effect.Effect<MasterKey, KeyUnusable> => {
  const plain = text.trim()
  const hex = /^[0-9a-f]{64}$/iu.test(plain)
  const bytes = hex || /^[A-Za-z0-9+/_-]{43}=?$/u.test(plain) ? Buffer.from(plain, hex ? "hex" : "base64") : undefined
  return bytes?.length === keyBytes
    ? Effect.succeed({ bytes })
    : Effect.fail(
        new KeyUnusable({
          what: `the key from ${from}`,
          because: `it is not ${keyBytes} bytes as base64 or hex`,
          hint,
          malformed: true,
        }),
      )
}

/** The key in a file of mode 0600; undefined when the file does not exist. `hint` says what to do when it contains no key. */
export const loadKey = (path: string, hint?: string): Effect.Effect<MasterKey | undefined, KeyUnusable> =>
  Effect.flatMap(readSecretFile(path), (text) => (text === undefined ? Effect.undefined : masterKeyFromText(text, path, hint)))

/** The key in a file of mode 0600; created on first use. */
export const loadOrCreateKey = (path: string): Effect.Effect<MasterKey, KeyUnusable> =>
  Effect.suspend(() => keepKey(path, newKey()))

/** The key in a file of mode 0600; a missing file is created with this key. */
export const keepKey = (path: string, { bytes }: MasterKey): Effect.Effect<MasterKey, KeyUnusable> =>
  Effect.flatMap(
    loadOrCreateSecretFile(
      path,
      Effect.sync(() => `${Buffer.from(bytes).toString("base64")}\n`),
    ),
    (text) => masterKeyFromText(text, path),
  )

/** A new random key. */
export const newKey = (): MasterKey => ({ bytes: randomBytes(keyBytes) })
