import { ContentFault, treeFault } from "@rangewright/ports"
import { type Entry, getFileNameLowLevel, openPromise, type ZipFile } from "yauzl"
import type { Doing } from "../faults.ts"
import type { StagedTree } from "../store/staged-tree.ts"
import { entryPath, executableBits, setIdBits } from "./entry-name.ts"

const damaged = (doing: Doing, cause: unknown): ContentFault =>
  cause instanceof ContentFault
    ? cause
    : new ContentFault({
        doing,
        reason: "broken",
        rule: "archive",
        detail: `it is damaged or cut off (${cause instanceof Error ? cause.message : String(cause)})`,
      })

/** The kinds of a Unix mode, in the upper half of an entry's attributes; nothing where the packer was no Unix. */
const kindBits = 0o170000
const kinds = { file: 0o100000, folder: 0o040000, link: 0o120000 }
const maxTargetBytes = 4096

const textOf = async (content: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const takeEntry = async (doing: Doing, zip: ZipFile, entry: Entry, tree: StagedTree): Promise<void> => {
  // strict: a backslash stays one, and is refused
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true)
  tree.meet(name)
  const path = entryPath(name)
  const mode = entry.externalFileAttributes >>> 16
  const kind = mode & kindBits
  if (path === undefined || kind === kinds.folder || name.endsWith("/")) return
  if (kind !== 0 && kind !== kinds.file && kind !== kinds.link)
    throw treeFault(doing, { rule: "special", path, detail: "it is neither a file, a folder nor a link" })
  if ((mode & setIdBits) !== 0) throw treeFault(doing, { rule: "set-id", path, detail: "the file changes its user or group" })
  if (!entry.canDecodeFileData())
    throw treeFault(doing, { rule: "special", path, detail: "it is encrypted or compressed in an unknown way" })
  if (kind === kinds.link) {
    if (entry.uncompressedSize > maxTargetBytes)
      throw treeFault(doing, { rule: "link", path, detail: "the link's target is too long" })
    return tree.admit({ kind: "link", path, target: await textOf(await zip.openReadStreamPromise(entry)) })
  }
  const file = { kind: "file", path, size: entry.uncompressedSize, executable: (mode & executableBits) !== 0 } as const
  tree.admit(file)
  await tree.write(file, await zip.openReadStreamPromise(entry))
}

/** Reads a zip by its central directory, entry by entry from disk. */
export const readZip = async (doing: Doing, file: string, tree: StagedTree, signal: AbortSignal): Promise<void> => {
  try {
    const zip = await openPromise(file, { autoClose: false, lazyEntries: true, decodeStrings: false })
    try {
      for await (const entry of zip.eachEntry()) {
        signal.throwIfAborted()
        await takeEntry(doing, zip, entry, tree)
      }
    } finally {
      zip.close()
    }
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).syscall === undefined ? damaged(doing, cause) : cause
  }
}
