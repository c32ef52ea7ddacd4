import { createCipheriv } from "node:crypto"

/** VNC reverses the bits of each byte of the key. */
const mirrored = (byte: number): number => Number.parseInt(byte.toString(2).padStart(8, "0").split("").toReversed().join(""), 2)

/**
 * The response to a VNC challenge (RFC 6143, 7.2.2): DES, built from triple DES with the same key three times, as Node no longer has DES
 * itself.
 */
export const vncAnswer = (password: string, challenge: Uint8Array): Uint8Array => {
  const key = new Uint8Array(8)
  key.set(Buffer.from(password, "latin1").subarray(0, 8).map(mirrored))
  return createCipheriv("des-ede3-ecb", Buffer.concat([key, key, key]), null)
    .setAutoPadding(false)
    .update(challenge)
}
