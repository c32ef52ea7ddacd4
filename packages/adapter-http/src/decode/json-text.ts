import { InvalidInput } from "@rangewright/domain"

/** Deeper than any body that an operation reads, and far below what a recursive walk can handle. */
const deepest = 64

const malformed = (because: string) => new InvalidInput({ what: `Cannot read the request body: ${because}` })

const delimiter = /[\s,:[\]{}"]/u

/** Where the first JSON value of the text ends, judging only by brackets and quotation marks. */
const endOfFirstValue = (text: string): number => {
  const start = text.search(/\S/u)
  let depth = 0
  let quoted = false
  for (let i = start; i >= 0 && i < text.length; i++) {
    const c = text.charAt(i)
    if (quoted) {
      if (c === "\\") i++
      else if (c === '"') quoted = false
    } else if (c === '"') quoted = true
    else if (c === "{" || c === "[") depth++
    else if (c === "}" || c === "]") depth--
    else if (depth === 0 && delimiter.test(text.charAt(i + 1))) return i + 1
    if (depth === 0 && !quoted && '"}]'.includes(c)) return i + 1
  }
  return text.length
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
  }
  // text after the first value is ignored, as clients expect
  const end = endOfFirstValue(text)
  try {
    return JSON.parse(text.slice(0, end))
  } catch {
    throw malformed("it is not valid JSON")
  }
}

/** Checks that no part of the value can harm later code. Removes `__proto__` members. */
const checkValue = (value: unknown, depth: number): void => {
  if (typeof value === "string") {
    if (value.includes("\0") || !value.isWellFormed()) throw malformed("a text contains a NUL character or half a surrogate pair")
    return
  }
  if (typeof value !== "object" || value === null) return
  if (depth === deepest) throw malformed(`it is nested deeper than ${deepest} levels`)
  if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__")
  for (const part of Array.isArray(value) ? (value as readonly unknown[]) : Object.values(value)) checkValue(part, depth + 1)
}

/**
 * The first JSON value of the text; undefined for blank text. Of members with the same name the last counts. Throws `InvalidInput` when it
 * is not JSON, is nested too deep, or contains text that a store could not keep.
 */
export const readJson = (text: string): unknown => {
  if (text.trim() === "") return undefined
  const value = parse(text)
  checkValue(value, 0)
  return value
}
