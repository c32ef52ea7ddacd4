import type { TreeEntry } from "@rangewright/domain"
import { ContentFault, treeFault } from "@rangewright/ports"
import type * as Effect from "effect/Effect"
import type { Readable } from "node:stream"
import type { Doing } from "../faults.ts"
import type { Settings } from "../options.ts"
import type { Repository } from "./repository.ts"

/** A file or link of a commit; its blob, which also holds a link's target, is read later. */
export interface GitFile {
  readonly path: string
  readonly object: string
  readonly size: number
  readonly kind: TreeEntry["kind"]
  readonly executable: boolean
}

export interface GitTree {
  readonly files: readonly GitFile[]
  /** The commits at the paths of submodules. */
  readonly submodules: readonly { readonly path: string; readonly commit: string }[]
}

const line = /^(?<mode>\d{6}) \w+ (?<object>[0-9a-f]{40,64}) +(?<size>\d+|-)\t(?<path>[\s\S]+)$/u

/** Yields everything between NUL characters as it arrives. */
async function* records(output: Readable): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  for await (const chunk of output as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk])
    let start = 0
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0, start)) {
      yield rest.toString("utf8", start, end)
      start = end + 1
    }
    rest = rest.subarray(start)
  }
}

/**
 * Lists the content of a commit. Folders and files are counted while git lists them: a few objects can name the same folder so often that
 * the list would never end.
 */
export const listTree = (
  doing: Doing,
  repository: Repository,
  commit: string,
  settings: Settings,
): Effect.Effect<GitTree, ContentFault> =>
  repository.run(["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", "--end-of-options", commit], async (output) => {
    const files: GitFile[] = []
    const submodules: { path: string; commit: string }[] = []
    const most = settings.tree.files
    let entries = 0
    let bytes = 0
    for await (const record of records(output)) {
      const { mode, object, size = "0", path } = line.exec(record)?.groups ?? {}
      if (mode === undefined || object === undefined || path === undefined)
        throw new ContentFault({ doing, reason: "broken", detail: "the repository's tree cannot be read" })
      if (++entries > 2 * most || files.length >= most)
        throw treeFault(doing, { rule: "too-many-files", path, detail: `there are more than ${most} files` })
      if (mode === "160000") submodules.push({ path, commit: object })
      else if (mode !== "040000") {
        bytes += Number(size)
        if (bytes > settings.tree.totalBytes)
          throw treeFault(doing, {
            rule: "tree-too-large",
            path,
            detail: `the files are larger than ${settings.tree.totalBytes} bytes in total`,
          })
        const kind = mode === "120000" ? "link" : "file"
        files.push({ path, object, size: Number(size), kind, executable: mode === "100755" })
      }
    }
    return { files, submodules }
  })
