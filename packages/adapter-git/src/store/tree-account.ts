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

/** How many bytes a small archive may expand to, and the message for one that exceeds it. */
export interface Allowance {
  readonly bytes: number
  readonly detail: string
}

/** A complete tree. Entries are sorted; the digest covers paths, modes, targets and contents. */
export interface FinishedTree {
  readonly entries: readonly TreeEntry[]
  readonly digest: string
}

/** A single top-level folder is replaced by its content, unless it is to be kept. */
export interface Unwrap {
  readonly keep: readonly string[]
}

/** Replaces a folder by one inside it. */
const liftUp = async (folder: string, inner: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  const outer = `${folder}.outer`
  await rename(folder, outer)
  await mkdir(join(outer, inner), { recursive: true })
  await rename(join(outer, inner), folder)
  await rm(outer, { recursive: true })
}

export const treeIn = (staged: string): string => join(staged, "tree")
/** The listing of a snapshot's files is stored beside them, so that no folder is walked again. */
export const listingFile = "files.json"
/** The size on disk is stored too, so that the listing need not be read for it. Snapshots of older versions have none. */
export const sizeFile = "size"

/**
 * Accounting for a tree that is being written into the folder `tree` of a staged one: writers ask here first, and report what was written.
 * Everything throws a `Refusal` for content that is not allowed.
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
    /** The most bytes that a tar of an allowed tree can have, including headers and padding. */
    tarBytes: limits.totalBytes + mostMet * 1024,
    /** Counts every entry, including folders and those left out: an endless list of ignored entries must end. */
    meet: (path: string): void => {
      if (++met > mostMet) check({ rule: "too-many-files", path, detail: `there are more than ${mostMet} entries` })
      last = path
      spend(entryBytes)
    },
    /** Counts decompressed bytes, whether content or not. */
    spend,
    /** Links are created at the very end, when it is known where each leads. */
    admit: (entry: TreeEntry): void => {
      const before = intake.folders()
      check(intake.admit(entry))
      spend(entryBytes * (intake.folders() - before))
      if (entry.kind === "link") written.push(entry)
    },
    /** Counts `more` bytes of a file, which then has `fileBytes`, before they are written. */
    count: (path: string, fileBytes: number, more: number): void => check(intake.count(path, fileBytes, more)),
    /** An admitted file is complete. */
    took: (file: StagedFile, sha256: string): void => {
      written.push(file)
      digests.set(file.path, sha256)
    },
    /** Checks the tree as a whole, creates the links, and writes the listing beside it. */
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
