import { type ConfigIssue, type Finding, report } from "../range/config/issue.ts"

/**
 * A problem in a source. `file` is the path from its root; `path` is a place in that file, `(root)` if the whole file or folder is meant.
 */
export interface SourceIssue extends ConfigIssue {
  readonly file: string
}

/** Issues collected while a source is read. */
export interface Issues {
  readonly errors: Array<SourceIssue>
  readonly warnings: Array<SourceIssue>
}

/** Adds findings in the text of a file; `severity` applies to findings without their own. */
export const tellOfText = (
  issues: Issues,
  file: string,
  text: string,
  findings: ReadonlyArray<Finding>,
  severity: SourceIssue["severity"] = "error",
): void => {
  for (const issue of report(
    text,
    findings.map((finding) => ({ severity, ...finding })),
  ))
    issues[issue.severity === "error" ? "errors" : "warnings"].push({ file, ...issue })
}

/** Adds an issue with a file or folder as a whole. */
export const tellOfFile = (
  issues: Issues,
  severity: SourceIssue["severity"],
  file: string,
  { code, message, allowed }: Pick<Finding, "code" | "message" | "allowed">,
): void =>
  void issues[severity === "error" ? "errors" : "warnings"].push({
    file,
    path: "(root)",
    line: 1,
    column: 1,
    code,
    message,
    ...(allowed === undefined ? {} : { allowed }),
    severity,
  })

/** Maximum number of issues in a report; a final entry gives the number of the others. */
export const mostSourceIssues = 100

/** At most `mostSourceIssues`, in the order of their files. */
export const cutIssues = (issues: ReadonlyArray<SourceIssue>): ReadonlyArray<SourceIssue> => {
  const ordered = issues.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0))
  const kept = ordered.slice(0, mostSourceIssues)
  const last = kept.at(-1)
  if (last === undefined || kept.length === ordered.length) return kept
  const { file, line, column, severity } = last
  const message = `and ${ordered.length - kept.length} more`
  return [...kept, { file, path: "(root)", line, column, code: "more-issues", message, severity }]
}

const mostSaid = 20

/** The issues in one sentence for an error message: each with its file, and its position if there is one. */
export const sayIssues = (issues: ReadonlyArray<SourceIssue>): string => {
  const said = issues.slice(0, mostSaid).map(sayIssue)
  return [...said, ...(issues.length > mostSaid ? [`and ${issues.length - mostSaid} more`] : [])].join("; ")
}

const sayIssue = ({ file, path, line, column, code, message, allowed }: SourceIssue): string => {
  if (code === "more-issues") return message
  const place = path === "(root)" && line === 1 && column === 1 ? "" : ` at line ${line}, column ${column}`
  const subject = path === "(root)" ? file : `${file}: ${path}`
  return `${subject}: ${message}${allowed === undefined ? "" : ` (allowed: ${allowed})`}${place}`
}
