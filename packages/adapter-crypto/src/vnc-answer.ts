import { createCipheriv } from "node:crypto"

const bits = [0, 1, 2, 3, 4, 5, 6, 7]
/** VNC reverses the bits of each byte of the key. */
const mirrored = (byte: number): number => bits.reduce((turned, bit) => turned | (((byte >> bit) & 1) << (7 - bit)), 0)

/** DES with the password as the key. Node only has triple DES, which is the same with three equal keys. */
export const vncAnswer = (password: string, challenge: Uint8Array): Uint8Array => {
  const key = Buffer.alloc(8)
  key.set(Array.from(Buffer.from(password, "latin1").subarray(0, key.length), mirrored))
  const cipher = createCipheriv("des-ede3-ecb", Buffer.concat([key, key, key]), null)
  return cipher.setAutoPadding(false).update(challenge)
}
