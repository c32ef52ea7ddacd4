import { createHmac, timingSafeEqual } from "node:crypto"
import { keyFor, type MasterKey } from "./master-key.ts"

/** What shows later that who had the key wrote this text: HMAC-SHA-256 as hex. */
export const markOf = (master: MasterKey, text: string): string =>
  createHmac("sha256", keyFor(master, "mark")).update(text, "utf8").digest("hex")

/** Whether a text is as it was when its mark was made with this key. */
export const bearsMark = (master: MasterKey, text: string, mark: string): boolean => {
  const [own, given] = [Buffer.from(markOf(master, text)), Buffer.from(mark.trim())]
  return own.length === given.length && timingSafeEqual(own, given)
}
