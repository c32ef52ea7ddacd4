/** Converts the output of a tool that runs untrusted programs into lines for a build log. */
import { shownText } from "../source/shown-text.ts"

/** Maximum characters per line and per log; the history stores logs of at most 20 MB. */
const longestLine = 4096
const longestLog = 8 * 1024 * 1024

// eslint-disable-next-line no-control-regex -- matches terminal escape sequences
const steering = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/gu

/** What the tool prints while a machine being installed does not answer yet. */
const notThereYet = /Error getting (?:SSH address|WinRM host).*\b500\b/u
const waiting = "=> The machine's guest agent does not answer yet; this is normal while it is installed"

export interface BuildOutput {
  /** Takes text as it arrives; returns the lines it completes, each with its newline, secrets masked. */
  readonly push: (text: string) => string
  /** The rest of a line without a newline. */
  readonly end: () => string
}

/** `secrets`: texts that must not appear in a log. */
export const openBuildOutput = (secrets: readonly string[]): BuildOutput => {
  // longest first: a secret may be the prefix of another
  const covered = secrets.filter((secret) => secret !== "").toSorted((a, b) => b.length - a.length)
  let rest = ""
  let length = 0
  let last = ""
  let full = false

  const lineOf = (raw: string): string => {
    let line = raw.replaceAll(steering, "")
    for (const secret of covered) line = line.replaceAll(secret, "***")
    if (notThereYet.test(line)) line = waiting
    const shown = shownText(line)
    return shown.length <= longestLine ? shown : `${shown.slice(0, longestLine)}…`
  }
  const take = (raw: string): string => {
    if (full) return ""
    const line = lineOf(raw)
    // reported once, however often the tool retries
    if (line === waiting && last === waiting) return ""
    last = line
    length += line.length + 1
    if (length <= longestLog) return `${line}\n`
    full = true
    return `=> The log is longer than ${longestLog / 1024 / 1024} MiB: the rest is not kept\n`
  }
  return {
    push: (text) => {
      if (full) return ""
      const lines = (rest + text).split(/\r?\n|\r(?!$)/u)
      rest = lines.pop() ?? ""
      let out = ""
      for (const line of lines) out += take(line)
      // limits memory for a line without a newline; the end of the buffer is kept, because it may be the beginning of a secret
      if (rest.length > 16 * longestLine) {
        const keep = covered[0]?.length ?? 0
        const told = rest.slice(0, rest.length - keep)
        rest = rest.slice(rest.length - keep)
        out += take(told)
      }
      return out
    },
    end: () => {
      const line = rest.replace(/\r$/u, "")
      rest = ""
      return line === "" ? "" : take(line)
    },
  }
}
