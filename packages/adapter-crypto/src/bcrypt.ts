import { timingSafeEqual } from "node:crypto"
import { Blowfish, cyclicWords } from "./blowfish.ts"

const alphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const shape = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/u

/** Each step doubles the work. Keys of the first generation have 4; more than this many would let a stored text hold a request up. */
const costAtMost = 10
const saltBytes = 16
/** The last byte of the text is left out, as everybody does. */
const digestBytes = 23
const passwordAtMost = 72
const plain = "OrpheanBeholderScryDoubt"

/** The bytes of a text in bcrypt's own order of base64. */
const decode = (text: string, length: number): Uint8Array => {
  let bits = 0n
  for (const char of text) bits = (bits << 6n) | BigInt(alphabet.indexOf(char))
  const spare = BigInt(text.length * 6 - length * 8)
  const hex = (bits >> spare).toString(16).padStart(length * 2, "0")
  return Uint8Array.from({ length }, (_, i) => Number.parseInt(hex.slice(i * 2, i * 2 + 2), 16))
}

const digest = (password: string, salt: Uint8Array, cost: number): Uint8Array => {
  const key = cyclicWords(Buffer.from(`${password}\0`, "utf8").subarray(0, passwordAtMost))
  const salted = cyclicWords(salt)
  const nothing = new Uint32Array(4)
  const cipher = new Blowfish()
  cipher.expand(key, salted)
  for (let i = 0; i < 2 ** cost; i++) {
    cipher.expand(key, nothing)
    cipher.expand(salted, nothing)
  }
  const words = cyclicWords(Buffer.from(plain, "latin1"), 6)
  for (let i = 0; i < 64; i++) for (let at = 0; at < words.length; at += 2) cipher.encrypt(words, at)
  return Uint8Array.from([...words].flatMap((word) => [word >>> 24, (word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff]))
}

/** Whether a stored text is a bcrypt hash. */
export const isBcrypt = (stored: string): boolean => shape.test(stored)

/** Whether the hash was made of this password. False for anything but a bcrypt hash of a bearable cost. */
export const verifyBcrypt = (password: string, stored: string): boolean => {
  const [, cost = "", salt = "", wanted = ""] = shape.exec(stored) ?? []
  if (wanted === "" || Number(cost) < 4 || Number(cost) > costAtMost) return false
  const made = digest(password, decode(salt, saltBytes), Number(cost)).subarray(0, digestBytes)
  return timingSafeEqual(made, decode(wanted, digestBytes))
}
