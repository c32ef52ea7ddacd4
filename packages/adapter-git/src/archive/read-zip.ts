import { promisify } from "node:util"
import { crc32, inflateRawSync } from "node:zlib"
import type { Entry, ZipFile } from "yauzl"
import { damaged, Refusal, refuseTree } from "../refusal.ts"
import { entryPath, executableBits, setIdBits } from "./entry-name.ts"
import type { UnpackedTree } from "./unpacked-tree.ts"
import { type ZipOnDisk, zipOnDisk } from "./zip-file.ts"
import { checkDirectory, contentStart, nameOf } from "./zip-headers.ts"

/** File types of a Unix mode, in the upper half of an entry's attributes; zero if the archive was not created on Unix. */
const kindBits = 0o170000
const kinds = { file: 0o100000, folder: 0o040000, link: 0o120000 }
const maxTargetBytes = 4096
const deflated = 8

interface OpenZip {
  readonly zip: ZipFile
  readonly bytes: ZipOnDisk["bytes"]
}

/** Content up to this size, both compressed and not, is read in one piece: most entries do not need four streams. */
const smallBytes = 256 * 1024

async function* inPieces({ zip, bytes }: OpenZip, entry: Entry, start: number): AsyncGenerator<Buffer> {
  const { compressedSize, uncompressedSize } = entry
  const packed = entry.compressionMethod === deflated
  if (Math.max(compressedSize, uncompressedSize) <= smallBytes) {
    const found = bytes(start, compressedSize)
    const content = packed ? inflateRawSync(found, { maxOutputLength: Math.max(1, uncompressedSize) }) : found
    if (content.length !== uncompressedSize) throw new Error("a file is shorter than its directory says")
    yield content
    return
  }
  yield* await promisify<AsyncIterable<Buffer>>((done) =>
    zip.openReadStreamLowLevel(start, compressedSize, 0, compressedSize, packed, uncompressedSize, (error, opened) =>
      done(error, opened as AsyncIterable<Buffer>),
    ),
  )()
}

/** The content of an entry, verified against the checksum in the directory. */
async function* contentOf(opened: OpenZip, entry: Entry, name: string, tree: UnpackedTree): AsyncGenerator<Buffer> {
  const start = await contentStart(opened.zip, entry, name, opened.bytes)
  let sum = 0
  for await (const chunk of inPieces(opened, entry, start)) {
    tree.spend(chunk.length)
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (sum !== entry.crc32) throw damaged("its content does not match the checksum in its directory", name)
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
    if (entry.uncompressedSize > maxTargetBytes) throw refuseTree({ rule: "link", path, detail: "the link's target is too long" })
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
  const file = zipOnDisk(path)
  try {
    await checkDirectory(await file.open(), tree.meet)
    // two handles with separate read windows: the directory and the contents are far apart
    const [directory, zip] = [await file.open(), await file.open()]
    for await (const entry of directory.eachEntry()) await takeEntry({ zip, bytes: file.bytes }, entry, tree)
  } catch (cause) {
    if (cause instanceof Refusal || (cause as NodeJS.ErrnoException).syscall !== undefined) throw cause
    throw damaged(`it is damaged or truncated (${cause instanceof Error ? cause.message : String(cause)})`)
  } finally {
    file.close()
  }
}
