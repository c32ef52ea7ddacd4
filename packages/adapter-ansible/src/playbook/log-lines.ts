import type { Cover } from "@rangewright/domain"

/** The part of a run's output that is kept for people. */
export interface LogLines {
  readonly add: (lines: readonly string[]) => void
  /** Whole lines added since the last call; empty when there are none. */
  readonly take: () => string
}

/** Length limit of a log line; beyond it there is only output of some program in a machine. */
const longestLine = 16 * 1024

/** Lines kept even when the log is full. */
const important = /^(?:fatal: |failed: |PLAY RECAP |\S+ +: ok=)/u

/** Lines of one run, masked before they are cut. Once `bytes` are kept, only important lines are added. */
export const logLines = (cover: Cover, bytes: number): LogLines => {
  let kept = 0
  let waiting: string[] = []
  const keep = (line: string): void => {
    kept += line.length + 1
    waiting.push(line)
  }
  return {
    add: (lines) => {
      for (const line of lines) {
        if (kept > bytes && (!important.test(line) || kept > 2 * bytes)) continue
        const covered = cover(line, longestLine)
        const cut = line.length > longestLine ? `${covered.slice(0, longestLine)} … (${line.length} characters)` : covered
        const fits = kept <= bytes
        keep(cut)
        if (fits && kept > bytes) keep(`[the rest is omitted: more than ${Math.round(bytes / 1024)} KiB]`)
      }
    },
    take: () => {
      const text = waiting.length === 0 ? "" : `${waiting.join("\n")}\n`
      waiting = []
      return text
    },
  }
}
