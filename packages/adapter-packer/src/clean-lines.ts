import { withoutTrailing } from "@rangewright/domain"

/** A line that is longer is some program's output. */
const longestLine = 4 * 1024
/** What of one build is kept. */
const mostBytes = 4 * 1024 * 1024

// eslint-disable-next-line no-control-regex
const sequences = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/gu
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu

/** One line as a terminal would show it in the end: what a carriage return overwrites is gone. */
export const cleanLine = (line: string): string => {
  const plain = withoutTrailing(line.replaceAll(sequences, ""), "\r")
  const last = plain.slice(plain.lastIndexOf("\r") + 1).replaceAll(controls, "")
  return last.length > longestLine ? `${last.slice(0, longestLine)} … (${last.length} characters)` : last
}

/** What a build prints, as a log keeps it. */
export interface CleanLines {
  readonly add: (line: string) => void
  /** What the service has to say itself, also where the log is full. */
  readonly say: (line: string) => void
  /** What was added since, as whole lines. */
  readonly take: () => string
}

export const cleanLines = (cover: (text: string) => string): CleanLines => {
  let kept = 0
  let waiting: string[] = []
  const keep = (line: string): void => void waiting.push(line)
  return {
    add: (line) => {
      if (kept > mostBytes) return
      const clean = cover(cleanLine(line))
      kept += clean.length + 1
      keep(kept > mostBytes ? `[the rest is omitted: more than ${mostBytes / 1024 ** 2} MiB]` : clean)
    },
    say: (line) => keep(`==> rangewright: ${cover(cleanLine(line))}`),
    take: () => {
      const text = waiting.map((line) => `${line}\n`).join("")
      waiting = []
      return text
    },
  }
}
