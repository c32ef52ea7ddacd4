import { isSecretKey } from "@rangewright/domain"

/** Headers that hold a secret, besides those that `isSecretKey` recognizes. */
const headers = new Set(["authorization", "cookie", "set-cookie", "x-api-key"])
const isHidden = (name: string): boolean => isSecretKey(name) || headers.has(name.toLowerCase())

/** Most entries of one value, at any depth; facts are few, so more are somebody's whole world. */
const most = 1_000
const cut = "[…]"

/** What was shown of one value. */
interface Shown {
  readonly objects: Set<object>
  entries: number
}

type Entry = readonly [name: string, read: () => unknown]

/** Not every key has a text: an object without a prototype does not. */
const nameOf = (key: unknown): string => {
  try {
    return String(key)
  } catch {
    return "[unloggable]"
  }
}

function* entriesOf(value: object): Generator<Entry> {
  if (value instanceof Map) for (const [key, inner] of value) yield [nameOf(key), () => inner as unknown]
  else {
    if (value instanceof Error) yield ["type", () => value.name]
    const names = value instanceof Error ? Object.getOwnPropertyNames(value) : Object.keys(value)
    for (const name of names) yield [name, () => value[name as keyof typeof value]]
  }
}

const list = (all: Iterable<unknown>, shown: Shown): readonly unknown[] => {
  const told: unknown[] = []
  for (const one of all) {
    if (shown.entries >= most) {
      told.push(cut)
      break
    }
    told.push(read(() => one, shown))
  }
  return told
}

const fields = (all: Iterable<Entry>, shown: Shown): object => {
  const told: [string, unknown][] = []
  for (const [name, value] of all) {
    if (shown.entries >= most) {
      told.push(["…", cut])
      break
    }
    told.push([name, read(isHidden(name) ? () => "[secret]" : value, shown)])
  }
  return Object.fromEntries(told)
}

const show = (value: unknown, shown: Shown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (shown.objects.has(value)) return cut
  shown.objects.add(value)
  if (value instanceof Set || Array.isArray(value)) return list(value as Iterable<unknown>, shown)
  if (!(value instanceof Error) && "toJSON" in value && typeof value.toJSON === "function") {
    const { toJSON } = value as { readonly toJSON: () => unknown }
    return read(() => toJSON.call(value), shown)
  }
  return fields(entriesOf(value), shown)
}

/** Values run code when they are read: getters, `toJSON`, traps of proxies. */
const read = (from: () => unknown, shown: Shown): unknown => {
  if (shown.entries >= most) return cut
  shown.entries += 1
  try {
    return show(from(), shown)
  } catch {
    return { unloggable: true }
  }
}

/**
 * A value as JSON may show it, with everything under the name of a secret hidden. Errors show their message, stack and causes. An object is
 * shown once: it may contain itself. Never throws: what cannot be read is `{ unloggable: true }`.
 */
export const withoutSecrets = (value: unknown): unknown => read(() => value, { objects: new Set(), entries: 0 })
