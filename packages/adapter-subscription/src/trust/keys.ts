import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"

/** A key whose signatures are trusted. */
export interface PublicKey {
  /** First half of the SHA-256 of the key; names it in signatures and messages. */
  readonly id: string
  readonly key: KeyObject
  /** In the format of the configuration: `ed25519:` and 32 bytes as base64. */
  readonly text: string
}

export interface SigningKey {
  readonly key: KeyObject
  readonly public: PublicKey
}

const prefix = "ed25519:"
const keyBytes = 32

const publicKeyOf = (raw: Buffer): PublicKey => ({
  id: createHash("sha256").update(raw).digest("hex").slice(0, 32),
  key: createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") }, format: "jwk" }),
  text: `${prefix}${raw.toString("base64")}`,
})

/** Parses a key from the configuration; undefined for anything else. */
export const parsePublicKey = (text: string): PublicKey | undefined => {
  const trimmed = text.trim()
  if (!trimmed.startsWith(prefix)) return undefined
  const raw = Buffer.from(trimmed.slice(prefix.length), "base64")
  const key = raw.length === keyBytes ? publicKeyOf(raw) : undefined
  return key?.text === trimmed ? key : undefined
}

const signingKeyOf = (key: KeyObject): SigningKey => {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" })
  return { key, public: publicKeyOf(Buffer.from(x, "base64url")) }
}

export const newSigningKey = (): SigningKey => signingKeyOf(generateKeyPairSync("ed25519").privateKey)

/** Parses a private key in PKCS #8, PEM; undefined for anything else. */
export const parseSigningKey = (pem: string): SigningKey | undefined => {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === "ed25519" ? signingKeyOf(key) : undefined
  } catch {
    return undefined
  }
}

export const pemOf = ({ key }: SigningKey): string => key.export({ format: "pem", type: "pkcs8" }).toString()
