/** A stretch of text in one style. */
export interface Span {
  readonly text: string
  /** CSS class names, such as `c1 b`; empty for the default style. */
  readonly look: string
}

interface Look {
  bold: boolean
  dim: boolean
  italic: boolean
  underline: boolean
  colour: number | undefined
}

const plainLook = (): Look => ({ bold: false, dim: false, italic: false, underline: false, colour: undefined })

const classesOf = ({ bold, dim, italic, underline, colour }: Look): string =>
  [colour === undefined ? "" : `c${colour}`, bold ? "b" : "", dim ? "d" : "", italic ? "i" : "", underline ? "u" : ""]
    .filter(Boolean)
    .join(" ")

/** The sixteen colours of a terminal by number; colours of other palettes are ignored. */
const paint = (look: Look, parameters: string): void => {
  const numbers = parameters === "" ? [0] : parameters.split(/[;:]/u).map(Number)
  for (let at = 0; at < numbers.length; at++) {
    const n = numbers[at] ?? 0
    if (n === 0) Object.assign(look, plainLook())
    else if (n === 1) look.bold = true
    else if (n === 2) look.dim = true
    else if (n === 3) look.italic = true
    else if (n === 4) look.underline = true
    else if (n === 22) look.bold = look.dim = false
    else if (n === 23) look.italic = false
    else if (n === 24) look.underline = false
    else if (n >= 30 && n <= 37) look.colour = n - 30
    else if (n >= 90 && n <= 97) look.colour = n - 90 + 8
    else if (n === 39) look.colour = undefined
    else if (n === 38 || n === 48) {
      // 38;5;n and 38;2;r;g;b: their numbers must not be read as other parameters
      const kind = numbers[at + 1]
      if (kind === 5 && n === 38 && (numbers[at + 2] ?? 16) < 16) look.colour = numbers[at + 2]
      at += kind === 5 ? 2 : kind === 2 ? 4 : 0
    }
  }
}

const escape = 0x1b

/** Where the control sequence starting here ends, with its parameters if it sets colours. */
const sequenceAt = (line: string, at: number): { readonly end: number; readonly colours?: string } => {
  const introducer = line.charCodeAt(at) === 0x9b ? "[" : line[at + 1]
  let end = line.charCodeAt(at) === escape ? at + 2 : at + 1
  if (introducer === "[") {
    const begin = end
    while (end < line.length && line.charCodeAt(end) >= 0x20 && line.charCodeAt(end) <= 0x3f) end++
    const parameters = line.slice(begin, end)
    return line[end] === "m" && /^[\d;:]*$/u.test(parameters) ? { end: end + 1, colours: parameters } : { end: end + 1 }
  }
  // strings for the terminal (titles, links, the clipboard) extend to their end, or that of the line
  if (introducer !== undefined && "]PX^_".includes(introducer)) {
    while (end < line.length) {
      if (line.charCodeAt(end) === 0x07 || line.charCodeAt(end) === 0x9c) return { end: end + 1 }
      if (line.charCodeAt(end) === escape && line[end + 1] === "\\") return { end: end + 2 }
      end++
    }
    return { end }
  }
  // a sequence that selects a character set has one more character
  return { end: introducer !== undefined && "()*+-./# %".includes(introducer) ? end + 1 : end }
}

/** Text after a carriage return overwrites the text before it, as in a terminal. */
const overwritten = (line: string): string => {
  let end = line.length
  while (line[end - 1] === "\r") end--
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end)
}

/** Control characters, and bidirectional controls, which would change the order in which the text is read. */
const special = /(?!\t)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu

/** Splits a line of output into styled spans in one pass. Colours are kept; all other control sequences are dropped. */
export const spansOf = (raw: string): readonly Span[] => {
  const line = overwritten(raw)
  const spans: Span[] = []
  let look = plainLook()
  let text = ""
  const push = (): void => {
    if (text !== "") spans.push({ text, look: classesOf(look) })
    text = ""
  }
  let from = 0
  for (;;) {
    special.lastIndex = from
    const at = special.exec(line)?.index
    text += line.slice(from, at)
    if (at === undefined) break
    const code = line.charCodeAt(at)
    from = at + 1
    if (code === 0x9d || code === 0x90) from = stringEnd(line, at + 1)
    else if (code === escape || code === 0x9b) {
      const { end, colours } = sequenceAt(line, at)
      if (colours !== undefined) {
        push()
        look = { ...look }
        paint(look, colours)
      }
      from = end
    }
  }
  push()
  return spans
}

const stringEnd = (line: string, from: number): number => {
  for (let at = from; at < line.length; at++) if (line.charCodeAt(at) === 0x07 || line.charCodeAt(at) === 0x9c) return at + 1
  return line.length
}

/** The plain text of a line, for searching. */
export const textOf = (raw: string): string =>
  raw.search(special) < 0
    ? raw
    : spansOf(raw)
        .map(({ text }) => text)
        .join("")
