/** Problems of a configuration, described so that its author can fix them. */
import type { Path } from "./node.ts"

export interface ConfigIssue {
  /** Such as `ludus[2].vlan`; `(root)` for the file as a whole. */
  readonly path: string
  /** From 1; where the offending token begins. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
  /** Kebab-case, stable: programs tell issues apart by it. */
  readonly code: string
  /** What is wrong. */
  readonly message: string
  /** What is allowed instead. */
  readonly allowed?: string
  /** An error refuses the file; a warning does not. */
  readonly severity: "error" | "warning"
}

/** An issue before its offset is turned into line and column. */
export interface Finding {
  readonly path: Path
  readonly offset: number
  readonly code: string
  readonly message: string
  readonly allowed?: string
  readonly severity?: "error" | "warning"
}

const identifier = /^[A-Za-z_][A-Za-z0-9_-]*$/u
const longestKeyShown = 60
const longestAllowedShown = 160

/** `["ludus", 2, "vlan"]` as `ludus[2].vlan`; keys that are not plain words are quoted. */
export const formatPath = (path: Path): string => {
  if (path.length === 0) return "(root)"
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`
    if (identifier.test(step)) return text === "" ? step : `${text}.${step}`
    return `${text}[${quote(step)}]`
  }, "")
}

/** Text of the file, safe to show: cut to a readable length, control characters escaped. */
export const quote = (text: string): string =>
  JSON.stringify(text.length > longestKeyShown ? `${text.slice(0, longestKeyShown).toWellFormed()}…` : text)

/** Converts offsets to lines and columns, both from 1. Reads the text only up to the highest offset asked for. */
export const locator = (text: string): ((offset: number) => { readonly line: number; readonly column: number }) => {
  const starts = [0]
  let read = 0
  return (offset) => {
    while (read !== -1 && read <= offset) {
      const end = text.indexOf("\n", read)
      read = end === -1 ? -1 : end + 1
      if (read !== -1) starts.push(read)
    }
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}

/** A report lists no more issues of one severity than this; a last entry then says how many more there are. */
export const mostIssues = 100

/** Findings as issues: errors first, then warnings, each in document order and at most `mostIssues` of them. */
export const report = (text: string, findings: ReadonlyArray<Finding>): ReadonlyArray<ConfigIssue> => {
  const locate = locator(text)
  const section = (severity: ConfigIssue["severity"]): ReadonlyArray<ConfigIssue> => {
    const mine = findings.filter((finding) => (finding.severity ?? "error") === severity).toSorted((a, b) => a.offset - b.offset)
    const issues = mine.slice(0, mostIssues).map((finding): ConfigIssue => ({
      path: formatPath(finding.path),
      ...locate(finding.offset),
      code: finding.code,
      message: finding.message,
      ...(finding.allowed === undefined ? {} : { allowed: finding.allowed }),
      severity,
    }))
    const last = issues.at(-1)
    if (mine.length <= mostIssues || last === undefined) return issues
    const { line, column } = last
    return [
      ...issues,
      { path: "(root)", line, column, code: "more-issues", message: `and ${mine.length - mostIssues} more`, severity },
    ]
  }
  return [...section("error"), ...section("warning")]
}

const graphCodes: ReadonlySet<string> = new Set(["role-dependency-not-found", "role-dependency-cycle"])

/**
 * The text that clients get with a refused configuration. Begins with `Configuration error: `; errors of the file itself follow
 * `invalid YAML: ` as `<path>: <message>; …`, role dependencies keep their own `ERROR: `.
 */
export const configurationError = (issues: ReadonlyArray<ConfigIssue>): string => {
  const errors = issues.filter((issue) => issue.severity === "error")
  const graph = errors.filter((issue) => graphCodes.has(issue.code))
  const others = errors.filter((issue) => !graphCodes.has(issue.code))
  const parts = [...graph.map((issue) => `${issue.message} (${place(issue)})`), ...others.map(sentence)]
  return `Configuration error: ${graph.length === 0 ? "invalid YAML: " : ""}${parts.join("; ")}`
}

const sentence = (issue: ConfigIssue): string =>
  issue.code === "more-issues"
    ? issue.message
    : `${dotted(issue.path)}: ${issue.message}${issue.allowed === undefined ? "" : ` (allowed: ${shortened(issue.allowed)})`} at ${place(issue)}`
/** Cut between two alternatives. */
const shortened = (text: string): string =>
  text.length <= longestAllowedShown ? text : `${text.slice(0, text.lastIndexOf(", ", longestAllowedShown))}, …`
const place = (issue: ConfigIssue): string => `line ${issue.line}, column ${issue.column}`
/** `ludus[2].vlan` as `ludus.2.vlan`, the form of paths on the wire. */
const dotted = (path: string): string => path.replaceAll(/\[(\d+)\]/gu, ".$1")
