import { readFileSync } from "node:fs"
import { fileProblem } from "./file-problem.ts"

/** One configuration key: its name in the YAML file, and its allowed values. */
export interface Key<A> {
  readonly name: string
  readonly about: string
  /** The default as shown in the documentation. */
  readonly default: string
  readonly example?: string
  /** Secrets are never shown; they may also come from a file named by `<name>_file`. */
  readonly secret: boolean
  readonly group: string
  /** Parses a text or YAML value, or returns what is wrong with it. */
  readonly read: (value: unknown) => { readonly value: A } | { readonly problem: string }
  readonly fallback: A
}

/** The environment variable that sets a key. */
export const environmentName = (key: Key<unknown>): string => `RANGEWRIGHT_${key.name.toUpperCase()}`

interface Facts<A> {
  readonly about: string
  readonly default: A
  readonly shown?: string
  readonly example?: string
  readonly secret?: boolean
}

export type Read<A> = Key<A>["read"]

/** Creates a constructor for keys that are all parsed in the same way. */
export const keyOf =
  <A>(read: Read<A>) =>
  (group: string, name: string, facts: Facts<A>): Key<A> => ({
    name,
    group,
    about: facts.about,
    default: facts.shown ?? (facts.default === undefined ? "none" : JSON.stringify(facts.default)),
    ...(facts.example === undefined ? {} : { example: facts.example }),
    secret: facts.secret ?? false,
    read,
    fallback: facts.default,
  })

const asText = (value: unknown): string | undefined =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : undefined

const readText: Read<string> = (value) => {
  const text = asText(value)
  return text === undefined ? { problem: "must be text" } : { value: text.trim() }
}

/** An optional text; an empty one counts as absent. */
export const optionalText = keyOf<string | undefined>((value) => {
  const read = readText(value)
  return "problem" in read ? read : { value: read.value === "" ? undefined : read.value }
})
export const text = keyOf<string>(readText)

export const wholeNumber = (min: number, max: number) =>
  keyOf<number>((value) => {
    const n = Number(asText(value) ?? Number.NaN)
    return Number.isInteger(n) && n >= min && n <= max
      ? { value: n }
      : { problem: `must be a whole number from ${min} to ${max}` }
  })

export const optionalPort = keyOf<number | undefined>((value) => {
  const n = Number(asText(value) ?? Number.NaN)
  return Number.isInteger(n) && n >= 1 && n <= 65_535 ? { value: n } : { problem: "must be a port from 1 to 65535" }
})

const truths = new Map([
  ["true", true],
  ["yes", true],
  ["on", true],
  ["1", true],
  ["false", false],
  ["no", false],
  ["off", false],
  ["0", false],
])
const readBoolean: Read<boolean> = (value) => {
  const found = truths.get((asText(value) ?? "").toLowerCase())
  return found === undefined ? { problem: "must be true or false" } : { value: found }
}
export const boolean = keyOf<boolean>(readBoolean)
export const optionalBoolean = keyOf<boolean | undefined>(readBoolean)

export const oneOf = <const T extends string>(allowed: readonly T[]) =>
  keyOf<T>((value) => {
    const found = allowed.find((a) => a === asText(value))
    return found === undefined ? { problem: `must be one of ${allowed.join(", ")}` } : { value: found }
  })

/** A YAML list, or a comma-separated text. */
export const list = keyOf<readonly string[]>((value) => {
  if (Array.isArray(value)) {
    const items = value.map(asText)
    return items.includes(undefined) ? { problem: "must be a list of strings" } : { value: items as string[] }
  }
  const plain = asText(value)
  return plain === undefined
    ? { problem: "must be a list, or text separated by commas" }
    : {
        value: plain
          .split(",")
          .map((item) => item.trim())
          .filter((item) => item !== ""),
      }
})

export const mapping = keyOf<Readonly<Record<string, unknown>>>((value) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? { value: value as Record<string, unknown> }
    : { problem: "must be a mapping (only in the file)" },
)

/** Reads a secret from a file of its own, without the trailing newline. */
export const readSecretFile = (path: string): { readonly value: string } | { readonly problem: string } => {
  try {
    return { value: readFileSync(path, "utf8").replace(/\r?\n$/u, "") }
  } catch (error) {
    return { problem: fileProblem(path, error) }
  }
}
