/** What `ansible-galaxy` prints of failures (ansible-core 2.14 and later). */

const warning = "[WARNING]: "
const error = /^(?:\[ERROR\]:|ERROR!)\s*/u
/** The tool's own advice after a failure is no failure. */
const advice = /you can use --ignore-errors/u

/** Warnings and errors, each put together again: the tool breaks them at 79 columns, whatever it is told. */
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

/** The role that a message says was not installed, and why; undefined: the message is about something else. */
const failureIn = (message: string): { readonly name: string; readonly reason: string } | undefined => {
  const text = squeezed(message)
  const at = text.indexOf(marker)
  if (!text.startsWith("-") || at < 0) return undefined
  const reason = afterSqueezed(message, at + marker.length)
    .replace(/^[\s:.]+/u, "")
    .replace(/^- /u, "")
  return { name: text.slice(1, at), reason: reason === "" ? "the tool does not say why" : reason }
}

/**
 * Why roles were not installed, by their names; a role that no message names has no entry. A break may stand anywhere in a message, also
 * inside of a long name, so blanks do not count.
 */
export const roleFailures = (messages: readonly string[]): ReadonlyMap<string, string> => {
  const reasons = new Map<string, string>()
  for (const message of messages) {
    const failure = failureIn(message)
    if (failure !== undefined && !reasons.has(failure.name)) reasons.set(failure.name, failure.reason)
  }
  return reasons
}

/** The messages that are about no single role, such as that the server is unreachable. */
export const generalMessages = (messages: readonly string[]): readonly string[] =>
  messages.filter((message) => failureIn(message) === undefined)

/** What comes after so many characters that are no blanks. */
const afterSqueezed = (text: string, count: number): string => {
  let seen = 0
  for (let at = 0; at < text.length; at += 1) {
    if (seen === count) return text.slice(at)
    if (!/\s/u.test(text.charAt(at))) seen += 1
  }
  return ""
}

const longest = 500

/** The versions that there are, as the tool lists them: whole records of the server. */
const rawVersions = / ?\( ?\[ ?\{.*$| ?\( ?\[ ?\] ?\)\.? ?$/u

/** A reason for people: on one line, without the places where the tool worked, and not too long. */
export const tidyReason = (reason: string, folder: string): string => {
  const text = reason.replaceAll(folder, "…").replace(/\s+/gu, " ").replace(rawVersions, "").trim()
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text
}
