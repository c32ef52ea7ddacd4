import { withoutTrailing } from "@rangewright/domain"

/** A longer line is some program's output. */
const longestLine = 4 * 1024
/** Bytes kept of one build's output. */
const mostBytes = 4 * 1024 * 1024

// eslint-disable-next-line no-control-regex
const sequences = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/gu
// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/gu

/** One line as a terminal would finally show it: text overwritten after a carriage return is dropped. */
export const cleanLine = (line: string): string => {
  const plain = withoutTrailing(line.replaceAll(sequences, ""), "\r")
  const last = plain.slice(plain.lastIndexOf("\r") + 1).replaceAll(controls, "")
  return last.length > longestLine ? `${last.slice(0, longestLine)} … (${last.length} characters)` : last
}

/** A build's output as a log keeps it. */
export interface CleanLines {
  readonly add: (line: string) => void
  /** Adds a line of the service's own, even when the log is full. */
  readonly say: (line: string) => void
  /** Whole lines added since the last call. */
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
