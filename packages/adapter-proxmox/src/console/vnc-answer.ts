import { createCipheriv } from "node:crypto"

/** VNC takes the bits of each byte of its key in the other order. */
const mirrored = (byte: number): number => Number.parseInt(byte.toString(2).padStart(8, "0").split("").toReversed().join(""), 2)

/** How a viewer that knows the password answers a challenge (RFC 6143, 7.2.2): DES, of which three times the same key is left of what Node still has. */
export const vncAnswer = (password: string, challenge: Uint8Array): Uint8Array => {
  const key = new Uint8Array(8)
  key.set(Buffer.from(password, "latin1").subarray(0, 8).map(mirrored))
  return createCipheriv("des-ede3-ecb", Buffer.concat([key, key, key]), null)
    .setAutoPadding(false)
    .update(challenge)
}
