import * as Result from "effect/Result"
import { sign, verify } from "node:crypto"
import type { PublicKey, SigningKey } from "./keys.ts"

/**
 * Signed texts in the format of the Dead Simple Signing Envelope (DSSE 1.0): the type is signed with the text, so that a signed package can
 * never pass as a signed index, nor a licence as either.
 */
export type PayloadType =
  `application/vnd.rangewright.${"subscription-index" | "subscription-package" | "license" | "node-packages"}+json`

const mostSignatures = 16

/** The bytes that are signed: type and text, each preceded by its length. */
const preAuthentication = (type: string, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload])

/** Wraps a text in an envelope signed with one key. */
export const seal = (payloadType: PayloadType, text: string, { key, public: { id } }: SigningKey): string => {
  const payload = Buffer.from(text)
  const sig = sign(null, preAuthentication(payloadType, payload), key).toString("base64")
  return `${JSON.stringify({ payloadType, payload: payload.toString("base64"), signatures: [{ keyid: id, sig }] })}\n`
}

const base64 = (value: unknown): Buffer | undefined => {
  if (typeof value !== "string") return undefined
  const bytes = Buffer.from(value, "base64")
  return bytes.toString("base64") === value ? bytes : undefined
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const parse = (envelope: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(envelope)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Why an envelope was not opened: it is malformed, or not signed with a trusted key. */
export interface NotOpened {
  readonly reason: "broken" | "untrusted"
  readonly detail: string
}

const notOpened = (reason: NotOpened["reason"], detail: string) => Result.fail<NotOpened>({ reason, detail })

/** The text, if one of the keys signed it as this type. */
export const open = (
  envelope: string,
  payloadType: PayloadType,
  keys: readonly PublicKey[],
): Result.Result<string, NotOpened> => {
  const parsed = parse(envelope)
  const payload = base64(parsed?.["payload"])
  const signatures = parsed?.["signatures"]
  if (payload === undefined || !Array.isArray(signatures))
    return notOpened("broken", "it is not a signed document, or is truncated")
  if (parsed?.["payloadType"] !== payloadType) return notOpened("untrusted", "it was signed as something else")
  const signed = preAuthentication(payloadType, payload)
  const isTrusted = signatures.slice(0, mostSignatures).some((signature: unknown) => {
    if (!isRecord(signature)) return false
    const [key, sig] = [keys.find(({ id }) => id === signature["keyid"]), base64(signature["sig"])]
    return key !== undefined && sig !== undefined && verify(null, signed, key.key, sig)
  })
  return isTrusted
    ? Result.succeed(payload.toString("utf8"))
    : notOpened("untrusted", `none of the trusted keys (${keys.map(({ id }) => id).join(", ") || "there is none"}) signed it`)
}
