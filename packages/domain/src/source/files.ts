/** The input for reading a source: the list of its entries, and the texts of a few files. */
import type { BuilderFacts } from "./builder-file.ts"
import { foldName } from "./names.ts"
import { type Issues, tellOfFile } from "./issue.ts"

/** An entry in a source's tree. Submodules that were not fetched are empty directories; directories that contain files may be omitted. */
export interface SourceEntry {
  /** From the root of the source, parts joined by `/`. */
  readonly path: string
  readonly kind: "file" | "directory" | "link"
}

/** One fetched state of a source, as plain data. */
export interface SourceFiles {
  readonly entries: ReadonlyArray<SourceEntry>
  /** Texts by path, as requested by `neededTexts`. Without files that are not text or too large. */
  readonly texts: ReadonlyMap<string, string>
  /** Facts of builder files that were read before, by path. */
  readonly builders?: ReadonlyMap<string, BuilderFacts>
  /** For roles that are submodules, by directory: the tag exactly at the commit. */
  readonly tags?: ReadonlyMap<string, string>
}

/** Limits of one source; many times what real sources need. */
export const sourceLimits = {
  /** Files and directories. */
  entries: 200_000,
  /** UTF-16 units of one path. */
  path: 1_024,
} as const

/** The folders that are read; everything else, except `source.yml`, is ignored. */
export const roots = {
  blueprints: "blueprints",
  templates: "templates",
  roles: "ansible/roles",
  collections: "ansible/collections",
} as const
/** First path parts of the layout: an archive that contains only one of these folders is not considered wrapped in it. */
export const rootsOfLayout: readonly string[] = ["blueprints", "templates", "ansible"]
const insideRoots = /^(blueprints|templates|ansible\/(roles|collections))\//u

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001F\u007F-\u009F\uD800-\uDFFF]/u

/** Why a path cannot be used; undefined if it can. It must be relative, stay inside the source, and consist of valid file names. */
export const pathProblem = (path: string): string | undefined => {
  if (path.length > sourceLimits.path) return `the path has ${path.length} characters`
  if (control.test(path)) return "the path contains a control character or an unpaired surrogate"
  if (path.startsWith("/")) return "the path is absolute"
  const parts = path.split("/")
  if (parts.includes("..")) return "the path leads out of the directory"
  return parts.some((part) => part === "" || part === ".") ? "the path has empty parts" : undefined
}

const allowedPath = `parts joined by /, none of them empty, "." or "..", at most ${sourceLimits.path} characters`

/** Reports paths that lead out of the source, and paths that are the same on some file systems. */
export const checkPaths = (issues: Issues, entries: ReadonlyArray<SourceEntry>): void => {
  if (entries.length > sourceLimits.entries) {
    const message = `the source contains ${entries.length} files and directories`
    tellOfFile(issues, "error", ".", { code: "too-large", message, allowed: `at most ${sourceLimits.entries}` })
    return
  }
  const paths = new Set<string>()
  /** Folded path -> the path that came first. */
  const first = new Map<string, string>()
  for (const { path } of entries) {
    const problem = pathProblem(path)
    if (problem !== undefined) {
      const shown = JSON.stringify(path.slice(0, 200).toWellFormed())
      tellOfFile(issues, "error", shown, { code: "unsafe-path", message: problem, allowed: allowedPath })
    } else if (paths.has(path))
      tellOfFile(issues, "error", path, { code: "repeated-path", message: "the path is in the source twice" })
    else {
      paths.add(path)
      if (insideRoots.test(path)) checkTwins(issues, path, first)
    }
  }
}

/** Checks the path and its parents, up to the first one seen before. */
const checkTwins = (issues: Issues, path: string, first: Map<string, string>): void => {
  for (let part = path; part.includes("/"); part = part.slice(0, part.lastIndexOf("/"))) {
    const folded = foldName(part)
    const other = first.get(folded)
    if (other === part) return
    if (other !== undefined) {
      const message = `differs from ${other} only in case or in how accents are written`
      tellOfFile(issues, "error", part, { code: "twin-path", message, allowed: "names that are different on every file system" })
      return
    }
    first.set(folded, part)
  }
}
