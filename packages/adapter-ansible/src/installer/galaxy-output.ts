/** Parses the failures that `ansible-galaxy` prints (ansible-core 2.14 and later). */

const warning = "[WARNING]: "
const error = /^(?:\[ERROR\]:|ERROR!)\s*/u
/** The tool's own advice after a failure is not a failure. */
const advice = /you can use --ignore-errors/u

/** Warnings and errors, each reassembled: the tool always wraps them at 79 columns. */
export const readMessages = (lines: readonly string[]): readonly string[] => {
  const messages: string[] = []
  let open = false
  for (const line of lines) {
    const begins = line.startsWith(warning) || error.test(line)
    if (begins) messages.push(line.startsWith(warning) ? line.slice(warning.length) : line.replace(error, ""))
    else if (open && line.trim() !== "") messages.push(`${messages.pop() ?? ""} ${line.trim()}`)
    open = begins || (open && line.trim() !== "")
  }
  return messages.map((message) => message.trim()).filter((message) => message !== "" && !advice.test(message))
}

const squeezed = (text: string): string => text.replace(/\s+/gu, "")
const marker = "wasNOTinstalledsuccessfully"

/** The role that a message says was not installed, and why; undefined when the message is about something else. */
const failureIn = (message: string): { readonly name: string; readonly reason: string } | undefined => {
  const text = squeezed(message)
  const at = text.indexOf(marker)
  if (!text.startsWith("-") || at < 0) return undefined
  const reason = afterSqueezed(message, at + marker.length)
    .replace(/^[\s:.]+/u, "")
    .replace(/^- /u, "")
  return { name: text.slice(1, at), reason: reason === "" ? "the tool gave no reason" : reason }
}

/**
 * Why roles were not installed, by name; a role that no message names has no entry. Lines may break anywhere in a message, even inside a
 * long name, so whitespace is ignored.
 */
export const roleFailures = (messages: readonly string[]): ReadonlyMap<string, string> => {
  const reasons = new Map<string, string>()
  for (const message of messages) {
    const failure = failureIn(message)
    if (failure !== undefined && !reasons.has(failure.name)) reasons.set(failure.name, failure.reason)
  }
  return reasons
}

/** Messages that do not concern a single role, such as an unreachable server. */
export const generalMessages = (messages: readonly string[]): readonly string[] =>
  messages.filter((message) => failureIn(message) === undefined)

/** The text after this many non-blank characters. */
const afterSqueezed = (text: string, count: number): string => {
  let seen = 0
  for (let at = 0; at < text.length; at += 1) {
    if (seen === count) return text.slice(at)
    if (!/\s/u.test(text.charAt(at))) seen += 1
  }
  return ""
}

const longest = 500
/** The replacements shorten a text, so more than is shown of it is read; they cannot take megabytes of a hostile server's text. */
const readAtMost = 8_000

/** The list of available versions as the tool prints it: whole records of the server. */
const rawVersions = / ?\( ?\[ ?\{.*$| ?\( ?\[ ?\] ?\)\.? ?$/u

const unreachable =
  /Unknown error when attempting to call Galaxy at '(?<url>[^']{1,2000})': <urlopen error (?<cause>[^>]{0,2000})>(?:\.|$).*$/u
/** How the relay of the tool's sandbox refuses a connection, before its reason. */
const refusedByRelay = /^Tunnel connection failed: \d+ (?:\S+ may not be reached from here: )?/u

const unreachableText = (...[, url = "", cause = ""]: readonly string[]): string =>
  `Galaxy at ${url} cannot be reached: ${cause.replace(refusedByRelay, "")}. An operator can check galaxy_url, or name a role_folder where there is no internet.`

/** Makes a reason readable: on one line, without the tool's working folder, and shortened. */
export const tidyReason = (reason: string, folder: string): string => {
  const text = reason
    .replaceAll(folder, "…")
    .replace(/\s+/gu, " ")
    .slice(0, readAtMost)
    .toWellFormed()
    .replace(rawVersions, "")
    .replace(unreachable, unreachableText)
    .trim()
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text
}
