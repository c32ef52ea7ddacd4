import * as Result from "effect/Result"

/** A decoded answer: `data`, and the fields beside it (`total`, `changes`). None of it is trusted yet. */
export interface Reply {
  readonly data: unknown
  readonly beside: Readonly<Record<string, unknown>>
}

const maxDepth = 32
/** Ten times what the largest lists of a cluster of 10,000 guests hold. Millions of tiny values take the parser many seconds. */
const maxValues = 4_000_000

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Whether nesting or the number of values exceeds the limit, checked before the parser sees the text. Answers may be megabytes, so this is
 * one pass over the bytes.
 */
const tooMuch = (body: Uint8Array): boolean => {
  let depth = 0
  let values = 0
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i] ?? 0
    if (byte === quote) {
      for (i += 1; i < body.length && body[i] !== quote; i += 1) if (body[i] === backslash) i += 1
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1
      values += 1
      if (depth > maxDepth) return true
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1
    else if (byte === comma) values += 1
  }
  return values > maxValues
}

const utf8 = new TextDecoder()

const parse = (body: Uint8Array): unknown => {
  if (tooMuch(body)) return undefined
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    return undefined
  }
}

/** Reads `{"data": …}`. Anything else is not an answer of PVE; the failure says what is wrong with it. */
export const readReply = (body: Uint8Array): Result.Result<Reply, string> => {
  const value = parse(body)
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "data"))
    return Result.fail("the answer is not the JSON that Proxmox sends")
  const { data, ...beside } = value as { readonly data: unknown }
  return Result.succeed({ data, beside })
}

const oneLine = (text: string): string =>
  text
    .replace(/ at \/usr\/\S+ line \d+\.?/gu, "")
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, 600)

/** The text of an error: the body's message and the parameters it names, else the reason phrase. */
export const refusalText = (statusText: string, body: Uint8Array): string => {
  const value = parse(body.subarray(0, 65_536))
  const record: Readonly<Record<string, unknown>> = typeof value === "object" && value !== null ? { ...value } : {}
  const message = typeof record["message"] === "string" ? record["message"] : statusText
  const errors: unknown = record["errors"]
  const findings =
    typeof errors === "object" && errors !== null
      ? Object.entries(errors).flatMap(([name, text]) => (typeof text === "string" ? [`${name}: ${text}`] : []))
      : []
  return oneLine([message.trim(), ...findings].join(" "))
}
