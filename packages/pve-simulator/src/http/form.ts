import { PveError } from "../core/errors.ts"

/** Parameters by name; a repeated form key is a list. Without a prototype, so that any name is safe. */
export type Parameters = Record<string, unknown>

/** The largest body that the API accepts, in bytes. */
export const MAX_BODY = 512 * 1024

const decode = (text: string): string => {
  const spaced = text.replaceAll("+", " ")
  try {
    return decodeURIComponent(spaced)
  } catch {
    // invalid escapes stay unchanged; the rest is decoded byte by byte
    return spaced.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
}

/**
 * Reads a form or a query string as the server does: `&` and `;` separate, a second raw `=` cuts the value, a key
 * without `=` is absent, a repeated key makes a list.
 */
export const parseForm = (text: string): Parameters => {
  const out: Parameters = Object.create(null)
  for (const part of text.split(/[&;]/)) {
    const pieces = part.split("=")
    if (pieces.length < 2 || pieces[0] === "") continue
    const name = decode(pieces[0]!)
    const value = decode(pieces[1]!)
    const held = out[name]
    if (held === undefined) out[name] = value
    else if (Array.isArray(held)) held.push(value)
    else out[name] = [held, value]
  }
  return out
}

const jsonFailure = (text: string): PveError => new PveError(500, text, { body: false })

const parseJson = (text: string): Parameters => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw jsonFailure("malformed JSON string, neither tag, array, object, number, string or atom\n")
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw jsonFailure("Not a HASH reference\n")
  const out: Parameters = Object.create(null)
  for (const [name, inner] of Object.entries(value)) if (inner !== null) out[name] = inner
  return out
}

/** The parameters in a body of the given content type. */
export const parseBody = (contentType: string | undefined, body: string | Uint8Array): Parameters => {
  const size = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength
  if (size > MAX_BODY) throw new PveError(501, "for data too large", { body: false })
  const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8")
  const type = (contentType ?? "").split(";")[0]!.trim().toLowerCase()
  if (type === "" || type === "application/x-www-form-urlencoded") return parseForm(text)
  if (type === "application/json") return parseJson(text)
  throw new PveError(506, `upload 'Content-Type '${type.slice(0, 100)}' not implemented`, { body: false })
}
