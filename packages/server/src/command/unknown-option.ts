import { similar } from "@rangewright/domain"
import { environmentName, type Key } from "../config/key.ts"
import { keys } from "../config/keys.ts"

const wordsOf = (name: string): readonly string[] => name.split(/[-_]+/u).filter((word) => word !== "")
const joined = (name: string): string => wordsOf(name).join("")

/** Tests of whether a name may be the one that was meant, strongest first. */
const reasons: readonly ((typed: string, name: string) => boolean)[] = [
  (typed, name) => joined(name).startsWith(joined(typed)),
  (typed, name) => joined(typed).startsWith(joined(name)),
  (typed, name) => wordsOf(typed).every((word) => wordsOf(name).includes(word)),
  (typed, name) => wordsOf(typed)[0] === wordsOf(name)[0],
]

const meant = (typed: string, names: readonly string[]): readonly string[] => {
  const near = similar(typed, names)
  if (near !== undefined) return [near]
  const reason = reasons.find((holds) => names.some((name) => holds(typed, name)))
  return reason === undefined ? [] : names.filter((name) => reason(typed, name))
}

const shown = (key: Key<unknown>): string => `the configuration key ${key.name} (${environmentName(key)})`

/** The configuration keys that an option may have meant: one that sets it, several similar ones, or none. */
const insteadAmongKeys = (option: string): string => {
  const typed = option.slice("--".length).replaceAll("-", "_").toLowerCase()
  const all: readonly Key<unknown>[] = Object.values(keys)
  const same = all.find(({ name }) => name === typed)
  if (same !== undefined) return `; set ${shown(same)} instead`
  const names = meant(
    typed,
    all.map(({ name }) => name),
  )
  const [first, second] = all.filter(({ name }) => names.includes(name))
  if (first === undefined) return ""
  if (second === undefined) return `; did you mean ${shown(first)}?`
  return `; did you mean one of the configuration keys ${names.join(", ")}?`
}

/**
 * The text after "there is no option X": the option that was meant, or the configuration key; empty when nothing is similar. `options`:
 * those of the command, with their dashes. Keys are suggested only for a command that reads the configuration.
 */
export const insteadOf = (option: string, options: readonly string[]): string => {
  const [near] = option.startsWith("--") ? meant(option, options) : []
  if (near !== undefined) return `; did you mean ${near}?`
  return options.includes("--config") && option.startsWith("--") ? insteadAmongKeys(option) : ""
}
