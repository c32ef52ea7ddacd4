import { createCipheriv } from "node:crypto"

const bits = [0, 1, 2, 3, 4, 5, 6, 7]
/** VNC takes the bits of each byte of its key in the other order. */
const mirrored = (byte: number): number => bits.reduce((turned, bit) => turned | (((byte >> bit) & 1) << (7 - bit)), 0)

/** DES with the password as its key. Node has it no more but as triple DES, which with three equal keys is the same. */
export const vncAnswer = (password: string, challenge: Uint8Array): Uint8Array => {
  const key = Buffer.alloc(8)
  key.set(Array.from(Buffer.from(password, "latin1").subarray(0, key.length), mirrored))
  const cipher = createCipheriv("des-ede3-ecb", Buffer.concat([key, key, key]), null)
  return cipher.setAutoPadding(false).update(challenge)
}
