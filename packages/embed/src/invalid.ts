/** Invalid input; the message says what is wrong, where, and how to fix it. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError"
}

export const invalid = (message: string): never => {
  throw new InvalidInputError(message)
}

const kindOf = (value: unknown) => {
  if (typeof value === "string") return "text"
  if (typeof value === "number") return "number"
  if (typeof value === "boolean") return "flag"
  if (Array.isArray(value)) return "list"
  return typeof value === "object" && value !== null ? "object" : undefined
}
const shown = {
  text: "a string",
  number: "a number",
  flag: "true or false",
  list: "a list",
  texts: "a list of strings",
  objects: "a list of objects",
  object: "an object",
} as const
const itemsOf = { texts: "text", objects: "object" } as const

const requireKind = (whose: string, name: string, value: unknown, kind: keyof typeof shown): void => {
  if ((kind === "texts" || kind === "objects") && Array.isArray(value)) {
    for (const [index, item] of value.entries()) requireKind(whose, `${name}[${index}]`, item, itemsOf[kind])
    return
  }
  const found = kindOf(value)
  if (found === kind) return
  const is = found === "text" || found === "list" || found === "object" ? shown[found] : String(value)
  invalid(
    value === undefined ? `${whose} needs ${name}, ${shown[kind]}` : `${whose}: ${name} must be ${shown[kind]}, but it is ${is}`,
  )
}

/** Untyped programs can pass anything: throws `InvalidInputError` if a value has the wrong kind. `whose`: what the value belongs to. */
export const requireKinds = (
  whose: string,
  values: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, keyof typeof shown>>,
): void => {
  for (const [name, kind] of Object.entries(expected)) requireKind(whose, name, values[name], kind)
}

/** The same for each item of a list of objects. */
export const requireKindsOfAll = (
  whose: string,
  items: readonly object[],
  expected: Readonly<Record<string, keyof typeof shown>>,
): void => {
  for (const [index, item] of items.entries())
    requireKinds(`${whose}[${index}]`, item as Readonly<Record<string, unknown>>, expected)
}

/** The defaults, but for what is given; what is given as undefined counts as absent. */
export const withDefaults = <T extends object>(defaults: T, given: Partial<T>): T => ({
  ...defaults,
  ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
})
