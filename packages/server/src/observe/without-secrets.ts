import { isSecretKey } from "@rangewright/domain"

/** Headers that hold a secret, besides those that `isSecretKey` recognizes. */
const headers = new Set(["authorization", "cookie", "set-cookie", "x-api-key"])
const isHidden = (name: string): boolean => isSecretKey(name) || headers.has(name.toLowerCase())

/** Most objects of one value; facts are few, so more are somebody's whole world. */
const most = 1_000

const entriesOf = (value: object): (readonly [string, unknown])[] => {
  if (value instanceof Map) return [...value].map(([name, inner]) => [String(name), inner])
  if (!(value instanceof Error)) return Object.entries(value)
  const own = Object.getOwnPropertyNames(value) as (keyof Error)[]
  return [["type", value.name], ...own.map((name) => [name, value[name]] as const)]
}

/**
 * A value as JSON may show it, with everything under the name of a secret hidden. Errors show their message, stack and causes. An object is
 * shown once: it may contain itself.
 */
export const withoutSecrets = (value: unknown, shown = new Set<object>()): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (shown.has(value) || shown.size === most) return "[…]"
  shown.add(value)
  const inner = (one: unknown) => withoutSecrets(one, shown)
  if (value instanceof Set || Array.isArray(value)) return [...(value as Iterable<unknown>)].map(inner)
  if (!(value instanceof Error) && "toJSON" in value && typeof value.toJSON === "function") return inner(value.toJSON())
  return Object.fromEntries(entriesOf(value).map(([name, one]) => [name, isHidden(name) ? "[secret]" : inner(one)]))
}
