/** A key of a mapping, or an entry of a list. */
export type Segment = string | typeof entry
export const entry = Symbol("entry")

/** What is at a position of a YAML text: a key of the mapping at the path, or a value at the path. */
export interface YamlPlace {
  readonly kind: "key" | "value"
  readonly path: readonly Segment[]
  /** The text before the position that belongs to it, and its start column. */
  readonly typed: string
  readonly column: number
  /** The mapping's other keys. */
  readonly siblings: readonly string[]
}

interface Line {
  /** Columns of the dashes that start list entries. */
  readonly dashes: readonly number[]
  /** Where the content after the dashes begins. */
  readonly column: number
  readonly content: string
  readonly key: string | undefined
  /** The text after the key. */
  readonly rest: string
}

const keyOf = /^(?:"([^"]*)"\s*|'([^']*)'\s*|([^\s#:'"[{][^:#]*)):(?=\s|$)/u

const parse = (text: string): Line | undefined => {
  const [lead = ""] = /^\s*(?:-(?:\s+|$))*/u.exec(text) ?? []
  const content = text.slice(lead.length)
  if (content.startsWith("#") || (content === "" && !lead.includes("-"))) return undefined
  const dashes = [...lead].flatMap((character, at) => (character === "-" ? [at] : []))
  const found = keyOf.exec(content)
  const key = found === null ? undefined : (found[1] ?? found[2] ?? found[3]?.trimEnd())
  return { dashes, column: lead.length, content, key, rest: found === null ? content : content.slice(found[0].length) }
}

/** The path from the root of the document to the mapping whose keys begin at a column, or to the list whose dashes do. */
const pathTo = (lines: readonly (Line | undefined)[], at: number, begin: Line, before: number): readonly Segment[] => {
  const path: Segment[] = []
  // column of the next enclosing item, and whether it is a list's dash
  const dashes = begin.dashes.filter((dash) => dash < before)
  let isDash = false
  let column = before
  const enter = (dash: number): void => {
    path.unshift(entry)
    column = dash
    isDash = true
  }
  for (const dash of dashes.toReversed()) enter(dash)
  for (let n = at - 1; n >= 0 && (column > 0 || isDash); n--) {
    const line = lines[n]
    if (line === undefined) continue
    if (isDash) {
      if (line.dashes.includes(column) || line.key === undefined || line.column > column) continue
      path.unshift(line.key)
    } else {
      const opens = line.dashes.length > 0 && line.column === column
      if (!opens && (line.key === undefined || line.column >= column)) continue
      if (!opens) path.unshift(line.key ?? "")
    }
    column = line.column
    isDash = false
    for (const dash of line.dashes.toReversed()) enter(dash)
  }
  return path
}

/** The other keys of the mapping that contains a line. */
const siblingsOf = (lines: readonly (Line | undefined)[], at: number, column: number): readonly string[] => {
  const keys: string[] = []
  const ends = (line: Line): boolean => line.column < column || (line.dashes[0] ?? column) < column
  const own = lines[at]
  const isFirst = own !== undefined && own.dashes.length > 0 && own.column === column
  for (let n = at - 1; n >= 0 && !isFirst; n--) {
    const line = lines[n]
    if (line === undefined) continue
    if (line.column === column && line.key !== undefined) keys.push(line.key)
    if (ends(line)) break
  }
  for (let n = at + 1; n < lines.length; n++) {
    const line = lines[n]
    if (line === undefined) continue
    if (ends(line)) break
    if (line.column === column && line.key !== undefined) keys.push(line.key)
  }
  return keys
}

/** What is at a position; undefined in a comment, in braces or brackets, or where any text is allowed. */
export const placeAt = (text: string, position: number): YamlPlace | undefined => {
  const raw = text.split("\n")
  const start = text.lastIndexOf("\n", position - 1) + 1
  const at = text.slice(0, start).split("\n").length - 1
  const before = text.slice(start, position)
  if (/^\s*#|\s#|[{[][^{[}\]]*$/u.test(before)) return undefined
  const lines = raw.map(parse)
  const line: Line = parse(before) ?? { dashes: [], column: before.length, content: "", key: undefined, rest: "" }
  const column = line.column
  if (line.key !== undefined) {
    const typed = line.rest.trimStart()
    return {
      kind: "value",
      path: [...pathTo(lines, at, line, column), line.key],
      typed,
      column: before.length - typed.length,
      siblings: [],
    }
  }
  if (/[\s"']/u.test(line.content)) return undefined
  return {
    kind: "key",
    path: pathTo(lines, at, line, column),
    typed: line.content,
    column,
    siblings: siblingsOf(lines, at, column),
  }
}
