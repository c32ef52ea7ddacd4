/** Invalid input; the message says what is wrong, where, and how to fix it. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError"
}

export const invalid = (message: string): never => {
  throw new InvalidInputError(message)
}

const kindOf = (value: unknown) => {
  if (typeof value === "string") return "text"
  if (Array.isArray(value)) return "list"
  return typeof value === "object" && value !== null ? "object" : undefined
}
const shown = { text: "a string", list: "a list", object: "an object" } as const

/** Untyped programs can pass anything: throws `InvalidInputError` if a value has the wrong kind. `whose`: what the value belongs to. */
export const requireKinds = (
  whose: string,
  values: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, keyof typeof shown>>,
): void => {
  for (const [name, kind] of Object.entries(expected)) {
    const value = values[name]
    const found = kindOf(value)
    if (found === kind) continue
    const is = found === undefined ? String(value) : shown[found]
    invalid(
      value === undefined
        ? `${whose} needs ${name}, ${shown[kind]}`
        : `${whose}: ${name} must be ${shown[kind]}, but it is ${is}`,
    )
  }
}
