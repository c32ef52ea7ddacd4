import { open } from "node:fs/promises"
import { promisify } from "node:util"
import { crc32 } from "node:zlib"
import { type Entry, fromFdPromise, type ZipFile } from "yauzl"
import { damaged, Refusal, refuseTree } from "../refusal.ts"
import { entryPath, executableBits, setIdBits } from "./entry-name.ts"
import type { UnpackedTree } from "./unpacked-tree.ts"
import { contentStart, directoryOf, nameOf, type ReadBytes } from "./zip-headers.ts"

/** The kinds of a Unix mode, in the upper half of an entry's attributes; nothing where the packer was no Unix. */
const kindBits = 0o170000
const kinds = { file: 0o100000, folder: 0o040000, link: 0o120000 }
const maxTargetBytes = 4096

interface OpenZip {
  readonly zip: ZipFile
  readonly read: ReadBytes
}

/** The content of an entry, checked against the checksum that its directory names. */
async function* contentOf({ zip, read }: OpenZip, entry: Entry, name: string, tree: UnpackedTree): AsyncGenerator<Buffer> {
  const start = await contentStart(zip, entry, name, read)
  const { compressedSize, uncompressedSize, compressionMethod } = entry
  const stream = await promisify<AsyncIterable<Buffer>>((done) =>
    zip.openReadStreamLowLevel(start, compressedSize, 0, compressedSize, compressionMethod === 8, uncompressedSize, (error, opened) =>
      done(error, opened as AsyncIterable<Buffer>),
    ),
  )()
  let sum = 0
  for await (const chunk of stream) {
    tree.spend(chunk.length)
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (sum !== entry.crc32) throw damaged("its content does not have the checksum that its directory names", name)
}

const textOf = async (content: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const takeEntry = async (opened: OpenZip, entry: Entry, tree: UnpackedTree): Promise<void> => {
  const name = nameOf(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields)
  const path = entryPath(name)
  const mode = entry.externalFileAttributes >>> 16
  const kind = mode & kindBits
  if (path === undefined || kind === kinds.folder || name.endsWith("/")) return
  if (kind !== 0 && kind !== kinds.file && kind !== kinds.link)
    throw refuseTree({ rule: "special", path, detail: "it is neither a file, a folder nor a link" })
  if ((mode & setIdBits) !== 0) throw refuseTree({ rule: "set-id", path, detail: "the file changes its user or group" })
  if (!entry.canDecodeFileData())
    throw refuseTree({ rule: "special", path, detail: "it is encrypted or compressed in an unknown way" })
  if (kind === kinds.link) {
    if (entry.uncompressedSize > maxTargetBytes)
      throw refuseTree({ rule: "link", path, detail: "the link's target is too long" })
    return tree.admit({ kind: "link", path, target: await textOf(contentOf(opened, entry, name, tree)) })
  }
  const file = { kind: "file", path, size: entry.uncompressedSize, executable: (mode & executableBits) !== 0 } as const
  tree.admit(file)
  const sink = tree.create(file)
  for await (const chunk of contentOf(opened, entry, name, tree)) sink.put(chunk)
  sink.end()
}

/** Reads a zip by its central directory, entry by entry from disk. Throws a `Refusal`. */
export const readZip = async (path: string, tree: UnpackedTree): Promise<void> => {
  const file = await open(path)
  const read: ReadBytes = async (position, length) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
    return buffer.subarray(0, bytesRead)
  }
  try {
    const zip = await fromFdPromise(file.fd, { autoClose: false, lazyEntries: true, decodeStrings: false })
    const opened = { zip, read }
    for (const entry of await directoryOf(zip, tree.meet)) await takeEntry(opened, entry, tree)
  } catch (cause) {
    if (cause instanceof Refusal || (cause as NodeJS.ErrnoException).syscall !== undefined) throw cause
    throw damaged(`it is damaged or cut off (${cause instanceof Error ? cause.message : String(cause)})`)
  } finally {
    await file.close()
  }
}
