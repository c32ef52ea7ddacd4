import type { LogPart } from "../range/run-log.ts"

/** A line of a log, without its end. */
export interface LogLine extends Omit<LogPart, "text"> {
  /** From 1. */
  readonly line: number
  readonly text: string
}

export interface LinesAsked {
  /** The first line that may be returned, from 1. Undefined: the last lines, or with `step` or `find` the first matches. */
  readonly from?: number | undefined
  /** Instead of `from`: the first line of this journal entry, or of the next one that has lines. */
  readonly seq?: number | undefined
  readonly lines: number
  readonly step?: string | undefined
  /** Text that a line must contain, ignoring case. */
  readonly find?: string | undefined
}

export interface LinesFound {
  /** Lines of the whole log. */
  readonly total: number
  /** Lines that match `step` and `find`, in the whole log. */
  readonly matches: number
  readonly lines: readonly LogLine[]
  /** The line to continue from; undefined: nothing follows yet. */
  readonly next: number | undefined
}

/** Most characters in one answer; the first line is returned in any case, however long it is. */
const mostCharacters = 4 * 1024 * 1024

const linesIn = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++
  return count
}

/** The number of the first line of each part, and of the line after the last. */
const firstLines = (parts: readonly LogPart[]): readonly number[] => {
  const firsts = [1]
  let line = 1
  for (const { text } of parts) firsts.push((line += linesIn(text)))
  return firsts
}

const beginOf = (parts: readonly LogPart[], firsts: readonly number[], asked: LinesAsked): number => {
  const end = firsts.at(-1) ?? 1
  if (asked.seq !== undefined) {
    const { seq } = asked
    return firsts[parts.findIndex((part) => part.seq >= seq)] ?? end
  }
  if (asked.from !== undefined) return asked.from
  return asked.step === undefined && asked.find === undefined ? Math.max(1, end - asked.lines) : 1
}

/** The requested lines of a log. */
export const findLines = (parts: readonly LogPart[], asked: LinesAsked): LinesFound => {
  const firsts = firstLines(parts)
  const begin = beginOf(parts, firsts, asked)
  const total = (firsts.at(-1) ?? 1) - 1
  const needle = asked.find?.toLowerCase()
  const isNarrowed = asked.step !== undefined || needle !== undefined
  const lines: LogLine[] = []
  let characters = 0
  let matches = 0
  let next: number | undefined

  const take = (part: LogPart, line: number, text: string): void => {
    matches++
    if (line < begin || next !== undefined) return
    if (lines.length >= asked.lines || (lines.length > 0 && characters + text.length > mostCharacters)) {
      next = line
      return
    }
    characters += text.length
    lines.push({ line, seq: part.seq, at: part.at, step: part.step, text })
  }

  for (const [i, part] of parts.entries()) {
    const first = firsts[i] ?? 1
    if (asked.step !== undefined && part.step !== asked.step) continue
    if (needle !== undefined && !part.text.toLowerCase().includes(needle)) continue
    // lines outside are only counted, and not even that when all lines match
    if (!isNarrowed && ((firsts[i + 1] ?? 1) <= begin || next !== undefined)) continue
    for (const [n, text] of part.text.slice(0, -1).split("\n").entries())
      if (needle === undefined || text.toLowerCase().includes(needle)) take(part, first + n, text)
  }
  return { total, matches: isNarrowed ? matches : total, lines, next }
}
