import { byPath, type TreeEntry, treeIntake, type TreeLimits, type TreeProblem, wrappingFolder } from "@rangewright/domain"
import { treeFault } from "@rangewright/ports"
import { createHash } from "node:crypto"
import { mkdir, open, rename, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Doing } from "../faults.ts"

/** Files that are written at once. */
const writers = 16
/** Smaller files are held whole and written while the next one is read. */
const smallBytes = 256 * 1024

export type StagedFile = Extract<TreeEntry, { kind: "file" }>

/**
 * A tree that is being written into a scratch folder. Only regular files are created while content comes in, exclusively and below folders
 * made here, so no content can be written through a link; links are made at the very end, when it is known where each leads.
 */
export interface StagedTree {
  /** Counts whatever is met, folders and what is left out too: an endless list of nothing must end. Throws the fault. */
  readonly meet: (path: string) => void
  /** The most bytes that a tar of an allowed tree can have, headers and padding included. */
  readonly tarBytes: number
  /** Throws the fault when the entry may not be taken. */
  readonly admit: (entry: TreeEntry) => void
  /** Writes an admitted file. May return before it is on disk; `finish` waits for all. */
  readonly write: (file: StagedFile, content: AsyncIterable<Uint8Array>) => Promise<void>
  /** Ends when nothing is being written any more: before that, the folder must not be removed. */
  readonly settled: () => Promise<void>
  /**
   * Checks the whole, makes the links. The entries are sorted; the digest is of paths, modes, targets and contents. With `unwrap`, the one
   * folder that holds everything becomes the tree, unless it is to be kept.
   */
  readonly finish: (unwrap?: {
    readonly keep: readonly string[]
  }) => Promise<{ readonly entries: readonly TreeEntry[]; readonly digest: string }>
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

export const stagedTree = (
  doing: Doing,
  folder: string,
  limits: TreeLimits,
  /** An archive's allowance: what may come out of so few bytes. */
  allowance?: { readonly bytes: number; readonly detail: string },
): StagedTree => {
  const intake = treeIntake(limits)
  const written: TreeEntry[] = []
  const digests = new Map<string, string>()
  const made = new Map<string, Promise<unknown>>()
  const writing = new Set<Promise<void>>()
  let [total, met] = [0, 0]
  const mostMet = 4 * limits.files
  let failure: { readonly cause: unknown } | undefined
  const check = (problem: TreeProblem | undefined): void => {
    if (problem !== undefined) throw treeFault(doing, problem)
  }
  const folderOf = async (path: string): Promise<string> => {
    const target = join(folder, path)
    const parent = dirname(target)
    const making = made.get(parent) ?? mkdir(parent, { recursive: true })
    made.set(parent, making)
    await making
    return target
  }
  const counted = (path: string, fileBytes: number, more: number): void => {
    total += more
    check(intake.count(path, fileBytes, more))
    if (allowance !== undefined && total > allowance.bytes) check({ rule: "ratio", path, detail: allowance.detail })
  }
  const later = async (work: () => Promise<void>): Promise<void> => {
    if (failure !== undefined) throw failure.cause
    const one: Promise<void> = work()
      .catch((cause: unknown) => void (failure ??= { cause }))
      .finally(() => writing.delete(one))
    writing.add(one)
    if (writing.size >= writers) await Promise.race(writing)
  }
  const modeOf = (file: StagedFile): number => (file.executable ? 0o555 : 0o444)

  const writeLarge = async (file: StagedFile, before: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): Promise<void> => {
    const digest = createHash("sha256")
    const handle = await open(await folderOf(file.path), "wx", modeOf(file))
    try {
      let size = 0
      const put = async (chunk: Uint8Array) => {
        size += chunk.length
        digest.update(chunk)
        await handle.writeFile(chunk)
      }
      for (const chunk of before) await put(chunk)
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
        counted(file.path, size + next.value.length, next.value.length)
        await put(next.value)
      }
      written.push({ ...file, size })
    } finally {
      await handle.close()
    }
    digests.set(file.path, digest.digest("hex"))
  }

  const settled = async () => {
    while (writing.size > 0) await Promise.all(writing)
  }
  return {
    settled,
    tarBytes: limits.totalBytes + mostMet * 1024,
    meet: (path) => {
      if (++met > mostMet) check({ rule: "too-many-files", path, detail: `there are more than ${mostMet} entries` })
    },
    admit: (entry) => {
      check(intake.admit(entry))
      if (entry.kind === "link") written.push(entry)
    },
    write: async (file, content) => {
      const chunks: Uint8Array[] = []
      let size = 0
      const iterator = content[Symbol.asyncIterator]()
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        size += next.value.length
        counted(file.path, size, next.value.length)
        chunks.push(next.value)
        if (size > smallBytes) return writeLarge(file, chunks, iterator)
      }
      const whole = Buffer.concat(chunks)
      digests.set(file.path, createHash("sha256").update(whole).digest("hex"))
      written.push({ ...file, size })
      return later(async () => writeFile(await folderOf(file.path), whole, { flag: "wx", mode: modeOf(file) }))
    },
    finish: async (unwrap) => {
      await settled()
      if (failure !== undefined) throw failure.cause
      const root =
        unwrap === undefined
          ? undefined
          : wrappingFolder(
              written.map(({ path }) => path),
              unwrap.keep,
            )
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
      return { entries, digest: digest.digest("hex") }
    },
  }
}
