import * as Result from "effect/Result"

/** A decoded answer: `data`, and the fields beside it (`total`, `changes`). None of it is trusted yet. */
export interface Reply {
  readonly data: unknown
  readonly beside: Readonly<Record<string, unknown>>
}

const maxDepth = 32

/**
 * Whether the nesting exceeds the limit, checked before the parser sees the text. Answers may be megabytes, so this is one pass over the
 * bytes.
 */
const tooDeep = (body: Uint8Array): boolean => {
  let depth = 0
  for (let i = 0; i < body.length; i += 1) {
    const byte = body[i] ?? 0
    if (byte === 0x22) {
      for (i += 1; i < body.length && body[i] !== 0x22; i += 1) if (body[i] === 0x5c) i += 1
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1
  }
  return false
}

const parse = (body: Uint8Array): unknown => {
  if (tooDeep(body)) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(body))
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
    typeof errors === "object" && errors !== null ? Object.entries(errors).map(([name, text]) => `${name}: ${String(text)}`) : []
  return oneLine([message.trim(), ...findings].join(" "))
}
