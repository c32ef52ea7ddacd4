import { linkChecker } from "./tree-links.ts"
import { utf8Length } from "./utf8.ts"
import { withoutTrailing } from "../text.ts"

// worker threads that read archives load only this entry point
export { withoutTrailing }

/** An entry in a tree of files. Paths are relative, with `/`. Folders exist only as parts of the paths of files and links. */
export type TreeEntry =
  | { readonly kind: "file"; readonly path: string; readonly size: number; readonly executable: boolean }
  | { readonly kind: "link"; readonly path: string; readonly target: string }

/** Limits of a tree. */
export interface TreeLimits {
  readonly files: number
  /** Of one file. */
  readonly fileBytes: number
  /** Of all files together. */
  readonly totalBytes: number
  readonly pathBytes: number
  /** Total length of all paths and link targets, including folders: the size of a listing of the tree. */
  readonly namesBytes: number
  readonly depth: number
}

export const defaultTreeLimits: TreeLimits = {
  files: 50_000,
  fileBytes: 256 * 1024 * 1024,
  totalBytes: 512 * 1024 * 1024,
  pathBytes: 1024,
  namesBytes: 8 * 1024 * 1024,
  depth: 32,
}

/** Fixed cost of an entry or an implied folder, whatever its content: a disk block, its directory entry, and their removal. */
export const entryBytes = 8192

/** Disk space used by a tree, in bytes; even empty files count, because many of them fill a disk, too. */
export const treeBytes = (
  entries: Iterable<
    { readonly kind: "file"; readonly path: string; readonly size: number } | { readonly kind: "link"; readonly path: string }
  >,
): number => {
  const folders = new Set<string>()
  let bytes = 0
  for (const entry of entries) {
    bytes += entryBytes + (entry.kind === "file" ? entry.size : 0)
    const { path } = entry
    for (let end = path.lastIndexOf("/"); end > 0 && !folders.has(path.slice(0, end)); end = path.lastIndexOf("/", end - 1))
      folders.add(path.slice(0, end))
  }
  return bytes + entryBytes * folders.size
}

/** Why a tree is refused; `path` names the entry. */
export interface TreeProblem {
  readonly rule:
    | "path"
    | "duplicate"
    | "twin"
    | "link"
    | "special"
    | "set-id"
    | "too-many-files"
    | "names-too-long"
    | "file-too-large"
    | "tree-too-large"
    | "ratio"
  readonly path: string
  readonly detail: string
}

const problem = (rule: TreeProblem["rule"], path: string, detail: string): TreeProblem => ({ rule, path, detail })

const maxNameBytes = 255

/**
 * The problem of a path in itself: one that could leave the tree, be invisible in a listing or have a meaning to git; undefined if there is
 * none.
 */
export const pathProblem = (path: string, limits: TreeLimits): TreeProblem | undefined => {
  const wrong = (detail: string) => problem("path", path, detail)
  if (path === "") return wrong("the path is empty")
  if (path.length > limits.pathBytes || utf8Length(path) > limits.pathBytes)
    return wrong(`the path is longer than ${limits.pathBytes} bytes`)
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!path.isWellFormed() || /[\u0000-\u001f\u007f\\\ufffd]/u.test(path))
    return wrong("the path contains a control character, a backslash or bytes that are not valid text")
  if (path.startsWith("/")) return wrong("the path is absolute")
  const parts = path.split("/")
  if (parts.length > limits.depth) return wrong(`the path is deeper than ${limits.depth} folders`)
  for (const part of parts) {
    if (part === "" || part === "." || part === "..") return wrong("the path has an empty part or ..")
    if (utf8Length(part) > maxNameBytes) return wrong(`a part of the path is longer than ${maxNameBytes} bytes`)
    if (isGitName(part)) return wrong("the path reaches into a .git folder")
  }
  return undefined
}

/** Whether a name is `.git` on some file system: in other case, with ignorable characters, with trailing dots or spaces. */
export const isGitName = (part: string): boolean =>
  withoutTrailing(fold(part.replace(/[\p{Cf}\u034f]/gu, "")), ". ") === ".git" || /^git~1$/iu.test(part)

/**
 * Names that fold to the same text are the same on some file system. Upper case comes first because it merges characters that lowercasing
 * keeps apart.
 */
const fold = (text: string): string => {
  const folded = text.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC")
  // most names fold to themselves: this avoids storing the text twice
  return folded === text ? text : folded
}

/** Checks entries one by one as they are read, so that nothing is written before it is allowed. */
export interface TreeIntake {
  /** The problem of an entry; undefined if it may be written. */
  readonly admit: (entry: TreeEntry) => TreeProblem | undefined
  /** Number of folders in the paths so far. */
  readonly folders: () => number
  /** Counts the bytes actually read, whatever size the entry declared. */
  readonly count: (path: string, fileBytes: number, more: number) => TreeProblem | undefined
  /**
   * Checks what requires the whole tree: the targets of its links. `root` names the only folder that becomes the tree, if it is not
   * everything.
   */
  readonly finish: (root?: string) => TreeProblem | undefined
}

/** Creates an intake. The same entries in any order have the same outcome, although another problem may be reported first. */
export const treeIntake = (limits: TreeLimits): TreeIntake => {
  const entries = new Map<string, TreeEntry>()
  const folders = new Set<string>()
  const spelling = new Map<string, string>()
  let [read, names] = [0, 0]

  /** Every path must have a single spelling, and be either a folder or not. */
  const placeProblem = (path: string): TreeProblem | undefined => {
    if (entries.has(path)) return problem("duplicate", path, "the path occurs twice")
    if (folders.has(path)) return problem("duplicate", path, "the path is a folder and a file")
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
      const folder = path.slice(0, end)
      if (entries.has(folder)) return problem("duplicate", path, `${folder} is not a folder`)
      if (folders.has(folder)) continue
      const twin = twinOf(folder)
      if (twin !== undefined) return problem("twin", path, `its folder differs from ${twin} only in case or Unicode form`)
      folders.add(folder)
      names += folder.length
    }
    if (names > limits.namesBytes)
      return problem("names-too-long", path, `the paths are longer than ${limits.namesBytes} bytes together`)
    const twin = twinOf(path)
    return twin === undefined ? undefined : problem("twin", path, `it differs from ${twin} only in case or Unicode form`)
  }
  const twinOf = (path: string): string | undefined => {
    const folded = fold(path)
    const known = spelling.get(folded)
    if (known === undefined) spelling.set(folded, path)
    return known
  }

  return {
    admit: (entry) => {
      if (entries.size >= limits.files) return problem("too-many-files", entry.path, `there are more than ${limits.files} files`)
      names += entry.path.length + (entry.kind === "link" ? entry.target.length : 0)
      const wrong = pathProblem(entry.path, limits) ?? placeProblem(entry.path)
      if (wrong !== undefined) return wrong
      if (entry.kind === "file" && entry.size > limits.fileBytes)
        return problem("file-too-large", entry.path, `the file is larger than ${limits.fileBytes} bytes`)
      entries.set(entry.path, entry)
      return undefined
    },
    folders: () => folders.size,
    count: (path, fileBytes, more) => {
      read += more
      if (fileBytes > limits.fileBytes)
        return problem("file-too-large", path, `the file is larger than ${limits.fileBytes} bytes`)
      return read > limits.totalBytes
        ? problem("tree-too-large", path, `the files are larger than ${limits.totalBytes} bytes together`)
        : undefined
    },
    finish: (root) => {
      const above = root === undefined ? 0 : root.length + 1
      const tree = above === 0 ? entries : new Map([...entries].map(([path, entry]) => [path.slice(above), entry]))
      const check = linkChecker(tree)
      for (const [path, entry] of tree) {
        const detail = entry.kind === "link" ? check(path) : undefined
        if (detail !== undefined) return problem("link", entry.path, detail)
      }
      return undefined
    },
  }
}

/** The order of all listings: by path, in UTF-16 code units. */
export const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0

/** The single folder that contains all these paths; undefined if there is none, or it must be kept because it is part of a layout. */
export const wrappingFolder = (paths: readonly string[], keep: readonly string[]): string | undefined => {
  const [first = "", ...others] = new Set(paths.map((path) => path.slice(0, Math.max(0, path.indexOf("/")))))
  return first === "" || others.length > 0 || keep.includes(first) ? undefined : first
}
