import type { TreeEntry, TreeLimits } from "@rangewright/domain"
import { createHash } from "node:crypto"
import { mkdir, open, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type FinishedTree, modeOf, type StagedFile, treeAccount, treeIn } from "./tree-account.ts"

/** Files written concurrently. */
const writers = 16
/** Smaller files are read into memory and written while the next one is read. */
const smallBytes = 256 * 1024

/**
 * A tree being written into a scratch folder by the main thread. While content arrives, only regular files are created, exclusively and
 * below folders created here, so no content can be written through a link. Throws a `Refusal` for content that is not allowed.
 */
export interface StagedTree {
  /** Counts every entry, including folders and those left out: an endless list of ignored entries must end. */
  readonly meet: (path: string) => void
  readonly admit: (entry: TreeEntry) => void
  /** Writes an admitted file. May return before it is on disk; `finish` waits for all. */
  readonly write: (file: StagedFile, content: AsyncIterable<Uint8Array>) => Promise<void>
  /** Resolves when nothing is being written any more: before that, the folder must not be removed. */
  readonly settled: () => Promise<void>
  /** Checks the tree as a whole, creates the links, and writes the listing beside it. */
  readonly finish: () => Promise<FinishedTree>
}

/** Starts a new tree in the folder `tree` of `staged`. */
export const stagedTree = (staged: string, limits: TreeLimits): StagedTree => {
  const folder = treeIn(staged)
  const account = treeAccount(staged, limits)
  const made = new Map<string, Promise<unknown>>()
  const writing = new Set<Promise<void>>()
  let failure: { readonly cause: unknown } | undefined
  const folderOf = async (path: string): Promise<string> => {
    const target = join(folder, path)
    const parent = dirname(target)
    const making = made.get(parent) ?? mkdir(parent, { recursive: true })
    made.set(parent, making)
    await making
    return target
  }
  const later = async (work: () => Promise<void>): Promise<void> => {
    if (failure !== undefined) throw failure.cause
    const one: Promise<void> = work()
      .catch((cause: unknown) => void (failure ??= { cause }))
      .finally(() => writing.delete(one))
    writing.add(one)
    if (writing.size >= writers) await Promise.race(writing)
  }

  const writeLarge = async (file: StagedFile, before: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): Promise<void> => {
    const digest = createHash("sha256")
    const handle = await open(await folderOf(file.path), "wx", modeOf(file))
    let size = 0
    try {
      const put = async (chunk: Uint8Array) => {
        size += chunk.length
        digest.update(chunk)
        await handle.writeFile(chunk)
      }
      for (const chunk of before) await put(chunk)
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
        account.count(file.path, size + next.value.length, next.value.length)
        await put(next.value)
      }
    } finally {
      await handle.close()
    }
    account.took({ ...file, size }, digest.digest("hex"))
  }

  const settled = async () => {
    while (writing.size > 0) await Promise.all(writing)
  }
  return {
    settled,
    meet: account.meet,
    admit: account.admit,
    write: async (file, content) => {
      const chunks: Uint8Array[] = []
      let size = 0
      const iterator = content[Symbol.asyncIterator]()
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
        size += next.value.length
        account.count(file.path, size, next.value.length)
        chunks.push(next.value)
        if (size > smallBytes) return writeLarge(file, chunks, iterator)
      }
      const whole = Buffer.concat(chunks)
      account.took({ ...file, size }, createHash("sha256").update(whole).digest("hex"))
      return later(async () => writeFile(await folderOf(file.path), whole, { flag: "wx", mode: modeOf(file) }))
    },
    finish: async () => {
      await settled()
      if (failure !== undefined) throw failure.cause
      return account.finish()
    },
  }
}
