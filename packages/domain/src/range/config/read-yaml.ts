/** Reads the text of a configuration file into values with positions. The text is hostile: no input takes long, goes deep or throws. */
import * as Result from "effect/Result"
import { Composer, type Document, Lexer, Parser, type ParsedNode, type CST } from "yaml"
import type { Finding } from "./issue.ts"
import { limits } from "./limits.ts"
import type { Node } from "./node.ts"
import { placeNodes } from "./place-nodes.ts"

/** The values of the single document in the text. Fails with every error found; warnings are added to `warnings`. */
export const readYaml = (text: string, warnings: Array<Finding>): Result.Result<Node, ReadonlyArray<Finding>> =>
  Result.flatMap(readYamlInPart(text, warnings), ({ node, errors }) =>
    errors.length > 0 ? Result.fail(errors) : Result.succeed(node),
  )

/** Like `readYaml`, but fails only for what is not YAML: unreadable values are reported in `errors`, next to the readable ones. */
export const readYamlInPart = (
  text: string,
  warnings: Array<Finding>,
): Result.Result<{ readonly node: Node; readonly errors: ReadonlyArray<Finding> }, ReadonlyArray<Finding>> => {
  const refused = refuseText(text)
  if (refused !== undefined) return Result.fail([refused])
  const documents = compose(text)
  if (Result.isFailure(documents)) return Result.fail([documents.failure])
  const [document, second] = documents.success
  if (document === undefined) return Result.fail([problem(0, "empty", "the file is empty", "an object with the key `ludus`")])
  if (document.errors.length > 0) return Result.fail(syntaxErrors(document))
  if (second !== undefined)
    return Result.fail([problem(second.range[0], "several-documents", "a second YAML document starts here", "one document")])
  return Result.succeed(placeNodes(document.contents, warnings))
}

const problem = (offset: number, code: string, message: string, allowed?: string): Finding => ({
  path: [],
  offset,
  code,
  message,
  ...(allowed === undefined ? {} : { allowed }),
})

/** Code points that no YAML text may contain, and unpaired surrogates. */
// oxlint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\uFFFE\uFFFF\uD800-\uDFFF]/u

const refuseText = (text: string): Finding | undefined => {
  if (text.length > limits.length)
    return problem(0, "too-large", `the file has ${text.length} characters`, `at most ${limits.length}`)
  const excess = tooManyLines(text)
  if (excess !== undefined) return excess
  const at = text.search(forbidden)
  if (at === -1) return undefined
  const code = (text.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, "0")
  return problem(
    at,
    "forbidden-character",
    `the character U+${code} is not allowed in a text file`,
    "printable characters, tabs and line ends",
  )
}

/** Checked without parsing the file: counting line ends takes a millisecond. */
const tooManyLines = (text: string): Finding | undefined => {
  let lines = 0
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    lines += 1
    if (lines > limits.lines) return problem(at, "too-large", "the file has too many lines", `at most ${limits.lines}`)
  }
  return undefined
}

/** Parses token by token, so that a file beyond the limits is rejected before it costs anything. */
const compose = (text: string): Result.Result<ReadonlyArray<Document.Parsed>, Finding> => {
  const parser = new Parser()
  // No tag is resolved: scalar.ts decides what a scalar means, and repeated keys are ours to report.
  const composer = new Composer({ version: "1.1", schema: "failsafe", uniqueKeys: false, strict: true, keepSourceTokens: false })
  const documents: Array<Document.Parsed> = []
  let tokens = 0
  let properties = 0
  const take = (token: CST.Token): void => {
    for (const document of composer.next(token)) documents.push(document)
  }
  for (const lexeme of new Lexer().lex(text)) {
    tokens += 1
    if (isProperty(lexeme)) properties += 1
    const at = parser.offset
    if (tokens > limits.tokens)
      return Result.fail(problem(at, "too-large", "the file is too complex", `at most ${limits.tokens} tokens`))
    if (properties > limits.properties)
      return Result.fail(
        problem(at, "too-many-anchors", "too many anchors, aliases, tags or directives", `at most ${limits.properties}`),
      )
    let broken = false
    for (const token of parser.next(lexeme)) {
      take(token)
      broken ||= token.type === "error"
    }
    if (parser.stack.length > limits.depth)
      return Result.fail(problem(at, "too-deep", "values are nested too deeply", `at most ${limits.depth} levels`))
    // What follows an unexpected token, or is in a second document, does not count.
    if (broken || documents.length > 1) break
  }
  for (const token of parser.end()) take(token)
  for (const document of composer.end()) documents.push(document)
  return Result.succeed(documents)
}

const isProperty = (lexeme: string): boolean => {
  const first = lexeme.charCodeAt(0)
  return first === 0x26 || first === 0x2a || first === 0x21 || first === 0x25
}

/** Errors up to the first unexpected token: what follows it is mostly its consequence. */
const syntaxErrors = (document: Document.Parsed<ParsedNode>): ReadonlyArray<Finding> => {
  const findings: Array<Finding> = []
  for (const error of document.errors) {
    const offset = error.pos[0]
    if (offset === findings.at(-1)?.offset) continue
    const message = error.message.replace(/:?\s".*/su, "").slice(0, 200)
    findings.push(
      problem(offset, "yaml-syntax", message, "YAML; quote text that begins with {, [, * or &, or contains a colon and a space"),
    )
    if (error.code === "UNEXPECTED_TOKEN") break
  }
  return findings
}
