import type { TreeEntry } from "../content/tree.ts"
import { type ArtifactKind, shapeProblem } from "../library/artifact.ts"

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

/** Why a directory of a source cannot be installed as this kind; undefined if it can. */
export const artifactProblem = (kind: ArtifactKind, directory: string, files: ReadonlyArray<TreeEntry>): string | undefined => {
  const paths = new Set(entriesBelow(files, directory).map(({ path }) => path))
  return paths.size === 0 ? `${directory} is empty, like a submodule that was not fetched` : shapeProblem(kind, paths)
}
