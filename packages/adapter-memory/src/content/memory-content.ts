import type { Snapshot, SnapshotId } from "@rangewright/ports"

/** Content of a path: text, bytes, a program, or a link. */
export type MemoryFile = string | Uint8Array | { readonly program: string } | { readonly link: string }
export type MemoryFiles = Readonly<Record<string, MemoryFile>>

/** Places to fetch from, and fetched snapshots. Tests and embedders fill the places and may inspect everything. */
export interface MemoryContent {
  /** By URL. Refs are short names; `main` is the default. */
  readonly repositories: Map<string, { readonly commits: Map<string, MemoryFiles>; readonly refs: Map<string, string> }>
  /** By path of the uploaded file, or URL of the download. */
  readonly archives: Map<string, MemoryFiles>
  /** The allowed folders, by path. */
  readonly folders: Map<string, MemoryFiles>
  readonly snapshots: Map<SnapshotId, { readonly snapshot: Snapshot; readonly bytes: ReadonlyMap<string, Uint8Array> }>
  readonly pins: Map<SnapshotId, Set<string>>
}

export const makeMemoryContent = (): MemoryContent => ({
  repositories: new Map(),
  archives: new Map(),
  folders: new Map(),
  snapshots: new Map(),
  pins: new Map(),
})

const defaultBranch = "main"

/** Adds a commit to a branch and returns its id. The files are its whole content, not a change. */
export const commitTo = (content: MemoryContent, url: string, files: MemoryFiles, branch: string = defaultBranch): string => {
  const repository = content.repositories.get(url) ?? { commits: new Map<string, MemoryFiles>(), refs: new Map<string, string>() }
  content.repositories.set(url, repository)
  const made = [...content.repositories.values()].reduce((sum, { commits }) => sum + commits.size, 0)
  const commit = (made + 1).toString(16).padStart(40, "0")
  repository.commits.set(commit, files)
  repository.refs.set(branch, commit)
  return commit
}

/** Files and commit of a ref, which is a short or full name, a commit, or undefined for the default branch. */
export const lookUp = (
  content: MemoryContent,
  url: string,
  ref: string | undefined,
): { readonly commit: string; readonly files: MemoryFiles } | "no repository" | "no ref" => {
  const repository = content.repositories.get(url)
  if (repository === undefined) return "no repository"
  const name = ref?.replace(/^refs\/(?:heads|tags)\//u, "") ?? defaultBranch
  const commit = repository.refs.get(name) ?? name
  const files = repository.commits.get(commit)
  return files === undefined ? "no ref" : { commit, files }
}
