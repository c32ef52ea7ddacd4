import {
  byPath,
  entryBytes,
  treeBytes,
  type TreeEntry,
  treeIntake,
  type TreeLimits,
  type TreeProblem,
  wrappingFolder,
} from "@rangewright/domain/tree"
import { createHash } from "node:crypto"
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { refuseTree } from "../refusal.ts"

export type StagedFile = Extract<TreeEntry, { kind: "file" }>

/** What may come out of an archive of so few bytes, and what to say of one that passes it. */
export interface Allowance {
  readonly bytes: number
  readonly detail: string
}

/** A whole tree. The entries are sorted; the digest is of paths, modes, targets and contents. */
export interface FinishedTree {
  readonly entries: readonly TreeEntry[]
  readonly digest: string
}

/** The one folder that holds everything becomes the tree, unless it is to be kept. */
export interface Unwrap {
  readonly keep: readonly string[]
}

/** Puts a folder in the place of the one that it is in. */
const liftUp = async (folder: string, inner: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  const outer = `${folder}.outer`
  await rename(folder, outer)
  await mkdir(join(outer, inner), { recursive: true })
  await rename(join(outer, inner), folder)
  await rm(outer, { recursive: true })
}

export const treeIn = (staged: string): string => join(staged, "tree")
/** The list of a snapshot's files lies beside them, so that no folder is walked again. */
export const listingFile = "files.json"
/** And what they take of the disk, so that the list is not read for that. Snapshots of older versions have none. */
export const sizeFile = "size"

/**
 * The books of a tree that is being written into the folder `tree` of a staged one: whoever writes asks here first, and says what was
 * written. Everything throws a `Refusal` for what may not be taken.
 */
export const treeAccount = (staged: string, limits: TreeLimits, allowance?: Allowance) => {
  const intake = treeIntake(limits)
  const written: TreeEntry[] = []
  const digests = new Map<string, string>()
  let [spent, met, last] = [0, 0, ""]
  const mostMet = 4 * limits.files
  const check = (problem: TreeProblem | undefined): void => {
    if (problem !== undefined) throw refuseTree(problem)
  }
  const spend = (bytes: number): void => {
    spent += bytes
    if (allowance !== undefined && spent > allowance.bytes) check({ rule: "ratio", path: last, detail: allowance.detail })
  }
  return {
    /** The most bytes that a tar of an allowed tree can have, headers and padding included. */
    tarBytes: limits.totalBytes + mostMet * 1024,
    /** Counts whatever is met, folders and what is left out too: an endless list of nothing must end. */
    meet: (path: string): void => {
      if (++met > mostMet) check({ rule: "too-many-files", path, detail: `there are more than ${mostMet} entries` })
      last = path
      spend(entryBytes)
    },
    /** Counts bytes that came out of a compression, content or not. */
    spend,
    /** Links are made at the very end, when it is known where each leads. */
    admit: (entry: TreeEntry): void => {
      const before = intake.folders()
      check(intake.admit(entry))
      spend(entryBytes * (intake.folders() - before))
      if (entry.kind === "link") written.push(entry)
    },
    /** Counts `more` bytes of a file that has `fileBytes` with them, before they are written. */
    count: (path: string, fileBytes: number, more: number): void => check(intake.count(path, fileBytes, more)),
    /** An admitted file has all of its content. */
    took: (file: StagedFile, sha256: string): void => {
      written.push(file)
      digests.set(file.path, sha256)
    },
    /** Checks the whole, makes the links, and writes the list of the tree beside it. */
    finish: async (unwrap?: Unwrap): Promise<FinishedTree> => {
      const folder = treeIn(staged)
      const paths = () => written.map(({ path }) => path)
      const root = unwrap === undefined ? undefined : wrappingFolder(paths(), unwrap.keep)
      check(intake.finish(root))
      if (root !== undefined) await liftUp(folder, root)
      const above = root === undefined ? 0 : root.length + 1
      const entries = written.map((entry) => ({ ...entry, path: entry.path.slice(above) })).toSorted(byPath)
      const digest = createHash("sha256")
      for (const entry of entries) {
        if (entry.kind === "link") {
          await mkdir(dirname(join(folder, entry.path)), { recursive: true })
          await symlink(entry.target, join(folder, entry.path))
        }
        digest.update(
          entry.kind === "link"
            ? JSON.stringify(["link", entry.path, entry.target])
            : JSON.stringify([
                "file",
                entry.path,
                entry.executable,
                digests.get(`${root === undefined ? "" : `${root}/`}${entry.path}`),
              ]),
        )
      }
      await mkdir(folder, { recursive: true })
      await writeFile(join(staged, listingFile), JSON.stringify(entries), { flag: "wx", mode: 0o400 })
      await writeFile(join(staged, sizeFile), String(treeBytes(entries)), { flag: "wx", mode: 0o400 })
      return { entries, digest: digest.digest("hex") }
    },
  }
}
export const modeOf = ({ executable }: Pick<StagedFile, "executable">): number => (executable ? 0o555 : 0o444)
