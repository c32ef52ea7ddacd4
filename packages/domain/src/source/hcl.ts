/**
 * A parser for the subset of HCL needed to find out what a builder file calls its machine and installs it from: top-level blocks with their
 * labels, the blocks directly inside them, and attributes that are a single literal, a text with references, or a single reference.
 * Everything else is skipped by matching brackets. Runs in linear time; a text that is not HCL gives few blocks or none.
 */

/** Sequence of texts and variable references; undefined if the value is anything more complex. */
export type Expression = ReadonlyArray<string | Reference> | undefined
export interface Reference {
  readonly scope: "var" | "local"
  readonly name: string
}

export interface Block {
  readonly type: string
  readonly labels: ReadonlyArray<string>
  readonly attributes: ReadonlyMap<string, Expression>
  /** Position of each attribute in the text, from its name to the end of its value. */
  readonly spans: ReadonlyMap<string, Span>
  /** Blocks directly inside it; blocks nested deeper are not read. */
  readonly blocks: ReadonlyArray<Block>
}

export interface Span {
  readonly from: number
  readonly to: number
}

/** Longer texts are not read; builder files have a few kilobytes. */
const longest = 524_288

export const readBlocks = (text: string): ReadonlyArray<Block> => {
  const tokens = text.length > longest ? [] : tokenise(text)
  const blocks: Array<Block> = []
  let at = 0
  while (at < tokens.length) {
    const start = tokens[at]
    if (start?.kind !== "word") {
      at = start?.kind === "mark" && opening.has(start.text) ? passBrackets(tokens, at) : at + 1
      continue
    }
    const labels: Array<string> = []
    at += 1
    for (let label = tokens[at]; label !== undefined && isLabel(label); label = tokens[at]) {
      labels.push(label.kind === "text" ? (literal(label.value) ?? "") : label.text)
      at += 1
    }
    if (!isMark(tokens[at], "{")) continue
    const body: Body = { attributes: new Map(), spans: new Map() }
    const inner: Array<Block> = []
    at = readBody(tokens, at + 1, body, inner)
    blocks.push({ type: start.text, labels, ...body, blocks: inner })
  }
  return blocks
}

/** The value of an expression without references. */
export const literal = (expression: Expression): string | undefined =>
  expression?.every((part) => typeof part === "string") ? expression.join("") : undefined

/** Splits a text with `${var.name}` and `${local.name}` into its parts; JSON builder files write expressions this way too. */
export const readTemplateText = (text: string): Expression => {
  const parts: Array<string | Reference> = []
  let plain = ""
  let at = 0
  while (at < text.length) {
    const two = text.slice(at, at + 2)
    const escaped = two === "$$" || two === "%%"
    if (escaped && text[at + 2] === "{") {
      plain += `${text.charAt(at)}{`
      at += 3
    } else if (two === "${" || two === "%{") {
      const end = endOfCode(text, at + 2)
      const reference = two === "${" ? referenceIn(text.slice(at + 2, end - 1).trim()) : undefined
      if (reference === undefined) return undefined
      parts.push(plain, reference)
      plain = ""
      at = end
    } else {
      plain += text.charAt(at)
      at += 1
    }
  }
  return [...parts, plain].filter((part) => part !== "")
}

type Token = Span &
  ({ readonly kind: "word" | "mark" | "newline"; readonly text: string } | { readonly kind: "text"; readonly value: Expression })
interface Body {
  readonly attributes: Map<string, Expression>
  readonly spans: Map<string, Span>
}
const opening: ReadonlySet<string> = new Set(["{", "[", "("])
const closing: ReadonlySet<string> = new Set(["}", "]", ")"])

const isLabel = (token: Token): boolean => token.kind === "word" || token.kind === "text"
const isMark = (token: Token | undefined, mark: string): boolean => token?.kind === "mark" && token.text === mark

/** Reads attributes, and blocks if `blocks` is given, up to the closing bracket, and returns the position after it. */
const readBody = (tokens: ReadonlyArray<Token>, from: number, body: Body, blocks?: Array<Block>): number => {
  let at = from
  let fresh = true
  while (at < tokens.length && !isMark(tokens[at], "}")) {
    const token = tokens[at]
    const after = tokens[at + 3]
    if (fresh && token?.kind === "word" && isMark(tokens[at + 1], "=")) {
      const alone = after === undefined || after.kind === "newline" || isMark(after, "}")
      const end = endOfValue(tokens, at + 2)
      if (!body.attributes.has(token.text)) {
        body.attributes.set(token.text, alone ? valueOf(tokens[at + 2]) : undefined)
        body.spans.set(token.text, { from: token.from, to: tokens[end - 1]?.to ?? token.to })
      }
      at = end
      fresh = false
    } else if (fresh && blocks !== undefined && token?.kind === "word" && isMark(tokens[at + 1], "{")) {
      const own: Body = { attributes: new Map(), spans: new Map() }
      at = readBody(tokens, at + 2, own)
      blocks.push({ type: token.text, labels: [], ...own, blocks: [] })
      fresh = false
    } else if (token?.kind === "mark" && opening.has(token.text)) {
      at = passBrackets(tokens, at)
      fresh = false
    } else {
      fresh = token?.kind === "newline"
      at += 1
    }
  }
  return at + 1
}

/** The position after a value: the end of its line or of its block. */
const endOfValue = (tokens: ReadonlyArray<Token>, from: number): number => {
  let at = from
  for (let token = tokens[at]; token !== undefined && token.kind !== "newline" && !isMark(token, "}"); token = tokens[at])
    at = token.kind === "mark" && opening.has(token.text) ? passBrackets(tokens, at) : at + 1
  return at
}

/** The position after the bracket that closes the one at `from`. */
const passBrackets = (tokens: ReadonlyArray<Token>, from: number): number => {
  let depth = 0
  for (let at = from; at < tokens.length; at += 1) {
    const token = tokens[at]
    if (token?.kind !== "mark") continue
    if (opening.has(token.text)) depth += 1
    if (closing.has(token.text)) depth -= 1
    if (depth === 0) return at + 1
  }
  return tokens.length
}

const valueOf = (token: Token | undefined): Expression => {
  if (token?.kind === "text") return token.value
  if (token?.kind !== "word" || token.text === "null") return undefined
  const reference = referenceIn(token.text)
  if (reference !== undefined) return [reference]
  return /^(true|false|-?[0-9][0-9.]*)$/u.test(token.text) ? [token.text] : undefined
}

const referenceIn = (code: string): Reference | undefined => {
  const [, scope, name] = /^(var|local)\.([A-Za-z_][\w-]*)$/u.exec(code) ?? []
  return (scope === "var" || scope === "local") && name !== undefined ? { scope, name } : undefined
}

const blank = /[ \t\r\f\v\uFEFF]+/uy
const word = /-?[\p{L}\p{N}_][\p{L}\p{N}_.-]*/uy
const heredoc = /<<-?([\p{L}_][\p{L}\p{N}_-]*)\r?\n/uy

const tokenise = (text: string): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  let at = 0
  const take = (expression: RegExp): RegExpExecArray | null => {
    expression.lastIndex = at
    const found = expression.exec(text)
    if (found !== null) at = expression.lastIndex
    return found
  }
  while (at < text.length) {
    if (take(blank) !== null) continue
    const character = text.charAt(at)
    const two = text.slice(at, at + 2)
    if (character === "#" || two === "//") at = endOfLine(text, at)
    else if (two === "/*") at = after(text, "*/", at)
    else if (character === "\n") {
      tokens.push({ kind: "newline", text: "\n", from: at, to: (at += 1) })
    } else if (character === '"') {
      const end = endOfQuoted(text, at)
      tokens.push({ kind: "text", value: readTemplateText(unescape(text.slice(at + 1, end - 1))), from: at, to: end })
      at = end
    } else {
      const from = at
      const found = take(word)
      const here = found === null ? take(heredoc) : null
      if (found !== null) tokens.push({ kind: "word", text: found[0], from, to: at })
      else if (here !== null) {
        const body = readHeredoc(text, at, here[1] ?? "")
        at = body.end
        tokens.push({ kind: "text", value: readTemplateText(body.text), from, to: at })
        tokens.push({ kind: "newline", text: "\n", from: at, to: at })
      } else tokens.push({ kind: "mark", text: character, from, to: (at += 1) })
    }
  }
  return tokens
}

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf("\n", from)
  return end === -1 ? text.length : end
}
const after = (text: string, mark: string, from: number): number => {
  const end = text.indexOf(mark, from + 2)
  return end === -1 ? text.length : end + mark.length
}

/** The position after the quote that ends the text at `from`; code in it may contain quotes of its own. */
const endOfQuoted = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length && text[at] !== '"' && text[at] !== "\n") {
    if (text[at] === "\\") at += 2
    else if (startsCode(text, at)) at = endOfCode(text, at + 2)
    else at += text.startsWith("$${", at) || text.startsWith("%%{", at) ? 3 : 1
  }
  return Math.min(at + 1, text.length)
}

const startsCode = (text: string, at: number): boolean => text[at + 1] === "{" && (text[at] === "$" || text[at] === "%")

/** The position after the bracket that ends code, which may contain brackets and quoted texts with code. */
const endOfCode = (text: string, from: number): number => {
  /** Open brackets and quotes, starting with the code itself. */
  const open: Array<"code" | "quoted"> = ["code"]
  let at = from
  while (at < text.length && open.length > 0) {
    const character = text[at]
    const quoted = open.at(-1) === "quoted"
    if (quoted && character === "\\") at += 1
    else if (quoted && startsCode(text, at)) {
      open.push("code")
      at += 1
    } else if (character === '"') {
      if (quoted) open.pop()
      else open.push("quoted")
    } else if (!quoted && character === "{") open.push("code")
    else if (!quoted && character === "}") open.pop()
    at += 1
  }
  return Math.min(at, text.length)
}

const readHeredoc = (text: string, from: number, word: string): { readonly text: string; readonly end: number } => {
  let at = from
  while (at < text.length) {
    const end = endOfLine(text, at)
    if (text.slice(at, end).trim() === word) return { text: text.slice(from, at), end }
    at = end + 1
  }
  return { text: text.slice(from), end: text.length }
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
])
const escape = /\\(?:u([0-9a-fA-F]{4})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|(.))/gu
const unescape = (text: string): string =>
  text.replaceAll(escape, (_, short: string | undefined, long: string | undefined, character: string) => {
    const code = short ?? long
    return code === undefined ? (escapes.get(character) ?? character) : String.fromCodePoint(Number.parseInt(code, 16))
  })
