import type { TreeEntry, TreeLimits } from "@rangewright/domain/tree"
import { createHash } from "node:crypto"
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import {
  type Allowance,
  type FinishedTree,
  modeOf,
  type StagedFile,
  treeAccount,
  treeIn,
  type Unwrap,
} from "../store/tree-account.ts"

/** Receives the content of one file. */
export interface FileSink {
  readonly put: (chunk: Uint8Array) => void
  readonly end: () => void
}

/** A tree being written by a dedicated thread: all calls are synchronous, so that their cost is charged to that thread. */
export interface UnpackedTree {
  readonly tarBytes: number
  /** Counts every entry, including folders and those left out. */
  readonly meet: (path: string) => void
  /** Counts decompressed bytes, whether content or not. */
  readonly spend: (bytes: number) => void
  readonly admit: (entry: TreeEntry) => void
  /** Creates an admitted file. */
  readonly create: (file: StagedFile) => FileSink
  readonly finish: (unwrap?: Unwrap) => Promise<FinishedTree>
}

const writeAll = (fd: number, chunk: Uint8Array): void => {
  for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at)
}

/** Starts a new tree in the folder `tree` of `staged`. Calls `onFile` with the number of files written. */
export const unpackedTree = (
  staged: string,
  limits: TreeLimits,
  allowance: Allowance,
  onFile: (done: number) => void,
): UnpackedTree => {
  const folder = treeIn(staged)
  const account = treeAccount(staged, limits, allowance)
  const made = new Set<string>()
  let done = 0
  return {
    ...account,
    create: (file) => {
      const target = join(folder, file.path)
      const parent = dirname(target)
      if (!made.has(parent)) mkdirSync(parent, { recursive: true })
      made.add(parent)
      const fd = openSync(target, "wx", modeOf(file))
      const digest = createHash("sha256")
      let size = 0
      return {
        put: (chunk) => {
          size += chunk.length
          account.count(file.path, size, chunk.length)
          digest.update(chunk)
          writeAll(fd, chunk)
        },
        end: () => {
          closeSync(fd)
          account.took({ ...file, size }, digest.digest("hex"))
          onFile(++done)
        },
      }
    },
  }
}
