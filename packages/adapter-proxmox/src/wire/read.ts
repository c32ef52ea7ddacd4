/** Reading untrusted JSON: numbers may come as strings, booleans as 0 and 1, and anything may be absent or of another type. */
export type Fields = Readonly<Record<string, unknown>>

export const recordOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** More rows than any cluster has of anything. */
const maxRows = 200_000

/** The objects of a list; other elements are left out. Undefined when the value is not a list. */
export const listed = (value: unknown): readonly Fields[] | undefined =>
  Array.isArray(value)
    ? value.slice(0, maxRows).filter((row): row is Fields => typeof row === "object" && row !== null && !Array.isArray(row))
    : undefined

/** The same, but empty when the value is not a list. */
export const rows = (value: unknown): readonly Fields[] => listed(value) ?? []

const field = (record: Fields, key: string): unknown => (Object.hasOwn(record, key) ? record[key] : undefined)

/** Undefined for anything but a string or a number, and for the empty string. */
export const text = (record: Fields, key: string): string | undefined => {
  const value = field(record, key)
  if (typeof value === "number" && Number.isFinite(value)) return String(value)
  return typeof value === "string" && value !== "" ? value : undefined
}

/** The name of a row's node; undefined for what cannot be one, such as `..`, which a server could read as another path. */
export const nodeIn = (row: Fields): string | undefined => {
  const name = text(row, "node")
  return name !== undefined && /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/iu.test(name) ? name : undefined
}

export const number = (record: Fields, key: string): number | undefined => {
  const value = field(record, key)
  const read = typeof value === "string" && /^-?\d+(?:\.\d+)?$/u.test(value) ? Number(value) : value
  return typeof read === "number" && Number.isFinite(read) ? read : undefined
}

export const flag = (record: Fields, key: string): boolean => {
  const value = field(record, key)
  return value === 1 || value === "1" || value === true
}

export const list = (record: Fields, key: string): readonly Fields[] => rows(field(record, key))

export const child = (record: Fields, key: string): Fields => recordOf(field(record, key))

/** Words of a list that comes as an array or as one string separated by commas, semicolons or spaces. */
export const words = (record: Fields, key: string): readonly string[] => {
  const value = field(record, key)
  const parts: readonly unknown[] = Array.isArray(value) ? value.slice(0, 1000) : (text(record, key) ?? "").split(/[,;\s]+/u)
  return parts.filter((part): part is string => typeof part === "string" && part !== "")
}
