import type { GitUrlProblem, TreeProblem } from "@rangewright/domain"
import { ContentFault } from "./faults.ts"

const tooLarge: ReadonlySet<TreeProblem["rule"]> = new Set([
  "too-many-files",
  "names-too-long",
  "file-too-large",
  "tree-too-large",
  "ratio",
])

/** A path for messages: on one line, shortened. */
const shown = (path: string): string => JSON.stringify(path.slice(0, 200)).slice(1, -1)

/** The fault for a problem in a tree of files. */
export const treeFault = (doing: string, problem: TreeProblem): ContentFault =>
  new ContentFault({
    doing,
    reason: tooLarge.has(problem.rule) ? "too-large" : "refused",
    rule: problem.rule,
    ...(problem.path === "" ? {} : { item: shown(problem.path) }),
    detail: problem.detail,
  })

/** The fault for a problem with a repository URL. */
export const urlFault = (doing: string, problem: GitUrlProblem): ContentFault =>
  new ContentFault({
    doing,
    reason: "refused",
    rule: problem.rule,
    detail: `the URL is refused: ${problem.detail}`,
    ...(problem.rule === "url-credentials" ? { hint: "Send the token or key separately, not in the URL." } : {}),
  })
