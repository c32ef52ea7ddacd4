import { createHmac, timingSafeEqual } from "node:crypto"
import { keyFor, type MasterKey } from "./master-key.ts"

/** Proves later that the text was written by someone with the key: HMAC-SHA-256 as hex. */
export const markOf = (master: MasterKey, text: string): string =>
  createHmac("sha256", keyFor(master, "mark")).update(text, "utf8").digest("hex")

/** Whether a text is unchanged since it was marked with this key. */
export const bearsMark = (master: MasterKey, text: string, mark: string): boolean => {
  const [own, given] = [Buffer.from(markOf(master, text)), Buffer.from(mark.trim())]
  return own.length === given.length && timingSafeEqual(own, given)
}
