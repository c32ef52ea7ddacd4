import type { TreeEntry } from "../content/tree.ts"
import type { InstallableKind } from "./install-plan.ts"

/** A role is what has at least one of these (contract C 6.5). */
const roleFolders: ReadonlySet<string> = new Set([
  "tasks",
  "meta",
  "defaults",
  "handlers",
  "vars",
  "files",
  "templates",
  "library",
])

/** The entries below a directory, with paths relative to it. `files` must be sorted by path, as those of a snapshot are. */
export const entriesBelow = (files: ReadonlyArray<TreeEntry>, directory: string): ReadonlyArray<TreeEntry> => {
  const prefix = `${directory}/`
  let [from, to] = [0, files.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((files[middle]?.path ?? "") < prefix) from = middle + 1
    else to = middle
  }
  const below: Array<TreeEntry> = []
  for (let at = from; at < files.length; at += 1) {
    const entry = files[at]
    if (entry === undefined || !entry.path.startsWith(prefix)) break
    below.push({ ...entry, path: entry.path.slice(prefix.length) })
  }
  return below
}

/** Why a directory of a source cannot be installed as this, or undefined. Without the files nothing is known against it. */
export const artifactProblem = (
  kind: InstallableKind,
  directory: string,
  files: ReadonlyArray<TreeEntry> | undefined,
): string | undefined => {
  if (files === undefined) return undefined
  const below = entriesBelow(files, directory)
  if (below.length === 0) return `${directory} is empty; a submodule that was not fetched looks like this`
  if (kind === "template") {
    const builders = below.filter((entry) => entry.kind === "file" && /pkr\.(hcl|json)$/u.test(entry.path)).length
    return builders === 1 ? undefined : `${directory} has ${builders} builder files (*.pkr.hcl, *.pkr.json), and needs one`
  }
  if (kind === "role" && !below.some(({ path }) => roleFolders.has(path.slice(0, path.indexOf("/")))))
    return `${directory} is no role: it has none of the folders ${[...roleFolders].join(", ")}`
  return undefined
}
