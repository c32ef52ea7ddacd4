/**
 * The meaning of an unquoted scalar. The dialect is YAML 1.1 as range configurations have always been read at upload: yes, no, on,
 * off, y and n are booleans, a leading zero is octal, and there are no base-60 numbers and no dates.
 */

const booleans: ReadonlyMap<string, boolean> = new Map(
  ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]
    .map((word): [string, boolean] => [word, true])
    .concat(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false])),
)
const nulls: ReadonlySet<string> = new Set(["", "~", "null", "Null", "NULL"])
const notFinite = /^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$/u
const decimal = /^[-+]?(0|[1-9][0-9]*)$/u
const based = /^([-+]?)0([xX][0-9a-fA-F]+|[bB][01]+|[oO]?[0-7]+)$/u
const float = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/u
const base60 = /^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$/u

/** A number that JSON cannot express (`.inf`, `.nan`): no value at all. */
export const hasNoJsonForm = (source: string): boolean => notFinite.test(source)

/** Text for us, but a base-60 number for other readers of YAML 1.1: `20:25` is 1225 to them. */
export const isBase60Elsewhere = (source: string): boolean => base60.test(source)

const leadingZero = /^[-+]?0+[1-7][0-7]+$/u

/** A number that a person may have meant as decimal: `011` is 9. Those that mean the same either way are not. */
export const isOctalByZero = (source: string): boolean => leadingZero.test(source)

/** The value of a plain scalar. Whole numbers that a double cannot hold exactly stay text. */
export const plainValue = (source: string): string | number | boolean | null => {
  if (nulls.has(source)) return null
  const first = source.charCodeAt(0)
  const numeric = (first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46
  if (!numeric) return booleans.get(source) ?? source
  const digits = source.includes("_") ? source.replaceAll("_", "") : source
  const value = numberOf(digits)
  return value !== undefined && isExact(value, digits) ? value : source
}

const isExact = (value: number, digits: string): boolean =>
  Number.isSafeInteger(value) || (Number.isFinite(value) && (!decimal.test(digits) || String(value) === digits.replace("+", "")))

const numberOf = (digits: string): number | undefined => {
  if (decimal.test(digits)) return Number(digits)
  const parts = based.exec(digits)
  if (parts !== null) {
    const body = parts[2] ?? ""
    const value = Number(/^[xXbBoO]/u.test(body) ? `0${body}` : `0o${body}`)
    return parts[1] === "-" ? -value : value
  }
  return float.test(digits) ? Number(digits) : undefined
}
