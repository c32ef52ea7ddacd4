/** What a tool that runs strangers' programs prints, made into lines for the log of a build. */
import { shownText } from "../source/shown-text.ts"

/** Characters of one line, and of a whole log: history keeps logs of at most 20 MB. */
const longestLine = 4096
const longestLog = 8 * 1024 * 1024

// eslint-disable-next-line no-control-regex -- terminals are steered with it
const steering = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/gu

/** What the tool says while a machine that is being installed does not answer yet. */
const notThereYet = /Error getting (?:SSH address|WinRM host).*\b500\b/u
const waiting = "=> The machine's guest agent does not answer yet; this is normal while it is installed"

export interface BuildOutput {
  /** Takes text as it comes; gives the whole lines that it ends, each with its newline, secrets covered. */
  readonly push: (text: string) => string
  /** What is left of a line that was not ended. */
  readonly end: () => string
}

/** `secrets`: texts that no log may hold. */
export const openBuildOutput = (secrets: readonly string[]): BuildOutput => {
  // the longest first: one may begin as another does
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
    // told once, however often the tool asks
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
      // a line without an end is not kept in memory for ever; what follows may be the rest of a secret
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
