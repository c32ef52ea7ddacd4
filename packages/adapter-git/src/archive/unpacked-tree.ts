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

/** Takes the content of one file. */
export interface FileSink {
  readonly put: (chunk: Uint8Array) => void
  readonly end: () => void
}

/** A tree that is being written by a thread of its own: every call waits for the disk, so that what it costs is this thread's. */
export interface UnpackedTree {
  readonly tarBytes: number
  /** Counts whatever is met, folders and what is left out too. */
  readonly meet: (path: string) => void
  /** Counts bytes that came out of a compression, content or not. */
  readonly spend: (bytes: number) => void
  readonly admit: (entry: TreeEntry) => void
  /** Creates an admitted file. */
  readonly create: (file: StagedFile) => FileSink
  readonly finish: (unwrap?: Unwrap) => Promise<FinishedTree>
}

const writeAll = (fd: number, chunk: Uint8Array): void => {
  for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at)
}

/** A new tree in the folder `tree` of `staged`. `onFile` hears how many files are written. */
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
