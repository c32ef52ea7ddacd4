import * as Base64 from "effect/encoding/Base64"
import type { Action, Json } from "./action.ts"

const secretWords =
  /pass(word|wd|phrase|code)?|secret|token|credential|(^|_)(pin|psk)(_|$)|(access|api|auth|encryption|licen[cs]e|private|shared|signing)_?key/iu

/** Whether a value under this key of a stage's input counts as a secret. Users name their role variables, so words in the name decide. */
export const isSecretKey = (key: string): boolean => secretWords.test(key)

const mask = "***"

/** The same input with every secret masked, for logs, events and people. */
export const maskSecrets = (input: Json): Json => {
  if (typeof input !== "object" || input === null) return input
  if (Array.isArray(input)) return (input as readonly Json[]).map(maskSecrets)
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, isSecretKey(key) ? mask : maskSecrets(value)]))
}

/** Every secret text and number of an input, longest first, to search the output of tools for them. */
export const secretsOf = (input: Json): readonly string[] => {
  const found = new Set<string>()
  const visit = (value: Json, secret: boolean): void => {
    if (secret && (typeof value === "number" || (typeof value === "string" && value !== ""))) found.add(String(value))
    if (typeof value !== "object" || value === null) return
    if (Array.isArray(value)) for (const item of value as readonly Json[]) visit(item, secret)
    else for (const [key, item] of Object.entries(value)) visit(item, secret || isSecretKey(key))
  }
  visit(input, false)
  return [...found].sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
}

/** Shorter ones also occur as ordinary words; masking them would make output unreadable. */
const shortestSecret = 4
/** Lines of a longer secret, such as a key, are secrets too if they are long enough to be distinctive. */
const shortestSecretLine = 8

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The forms in which tools print a text: as it is, as JSON, as JSON in JSON, in Base64, URL-encoded, and line by line. */
const asPrinted = (secret: string): readonly string[] => [
  secret,
  inJson(secret),
  inJson(inJson(secret)),
  Base64.encode(secret),
  encodeURIComponent(secret.toWellFormed()),
  ...secret.split(/\r?\n/u).filter((line) => line.length >= shortestSecretLine && line !== secret),
]

/** Masks secrets in a text. `most`: at most this many of its first characters are returned, or of its last ones if negative. */
export type Cover = (text: string, most?: number) => string

/** Texts searched for secrets, in characters times secrets: more would hold up the service, and no real tool prints so much. */
const mostSearched = 1e9
const notSearched = "[not shown: it takes too long to search this much output for so many secrets]"

/** Masks every secret of an input, and these further ones, in a text, in every form in which tools print them. */
export const coverOf = (input: Json, further: readonly string[] = []): Cover => {
  const secrets = [...secretsOf(input), ...further].filter(({ length }) => length >= shortestSecret)
  const printed = [...new Set(secrets.flatMap(asPrinted))].toSorted((a, b) => b.length - a.length)
  const longest = printed[0]?.length ?? 0
  let searched = 0
  const covered = (text: string): string => {
    searched += text.length * printed.length
    return searched > mostSearched ? notSearched : printed.reduce((rest, secret) => rest.replaceAll(secret, mask), text)
  }
  return (text, most) => {
    if (most === undefined || text.length <= Math.abs(most) + longest) return covered(text).slice(...wanted(most))
    // a secret that the first cut goes through is not recognized: the second one removes what is left of it
    const rest =
      most < 0 ? covered(text.slice(most - longest)).slice(longest) : withoutLast(covered(text.slice(0, most + longest)), longest)
    return rest.slice(...wanted(most))
  }
}

const wanted = (most: number | undefined): [start?: number, end?: number] =>
  most === undefined ? [] : most < 0 ? [most] : [0, most]
const withoutLast = (text: string, count: number): string => text.slice(0, Math.max(0, text.length - count))

/** An action with its secrets masked, as it may be shown. */
export const maskAction = (action: Action): Action =>
  action.kind === "guest" || action.kind === "work" ? { ...action, input: maskSecrets(action.input) } : action
