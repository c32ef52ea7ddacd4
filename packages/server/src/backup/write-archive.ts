import { tarEnd, tarHeader, tarLink, tarPadding } from "@rangewright/domain"
import { createHash } from "node:crypto"
import { closeSync, createWriteStream, lstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { type BackupFile, type BackupLink, manifestName, markName, permissions } from "./manifest.ts"

const chunkBytes = 1024 * 1024
/** The largest size that tar's own field can hold; backups use no extension. */
const mostFileBytes = 8 * 1024 ** 3 - 1
const ownerMayRun = 0o100

/** A file of a backup and where to read it from. */
export interface FileToKeep extends BackupFile {
  readonly source: string
}

export interface Tree {
  readonly files: readonly FileToKeep[]
  readonly links: readonly BackupLink[]
}

function* chunksOf(source: string, size: number): Generator<Buffer> {
  const fd = openSync(source, "r")
  try {
    for (let left = size; ;) {
      // a new chunk each time, as the previous one may still wait for compression; only as large as needed, as most files are small
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(left, 1)))
      const read = readSync(fd, chunk)
      if (read === 0) return
      left -= read
      yield chunk.subarray(0, read)
    }
  } finally {
    closeSync(fd)
  }
}

/** A file with its checksum, under its path in the backup. */
export const fileToKeep = (source: string, path: string): FileToKeep => {
  const { size, mode } = lstatSync(source)
  if (size > mostFileBytes) throw new Error(`Cannot back up ${path}: it is larger than ${mostFileBytes} bytes`)
  const digest = createHash("sha256")
  for (const chunk of chunksOf(source, size)) digest.update(chunk)
  return { path, size, sha256: digest.digest("hex"), mode: mode & permissions, source }
}

/** All files and links below a folder, sorted by path. */
export const treeToKeep = (root: string): Tree => {
  const files: FileToKeep[] = []
  const links: BackupLink[] = []
  const visit = (below: string): void => {
    for (const entry of readdirSync(join(root, below), { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) visit(path)
      else if (entry.isSymbolicLink()) links.push({ path, target: readlinkSync(join(root, path)) })
      else files.push(fileToKeep(join(root, path), path))
    }
  }
  visit("")
  return { files, links }
}

function* textEntry(path: string, text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text)
  yield* tarHeader(path, bytes.length, false)
  yield bytes
  yield tarPadding(bytes.length)
}

function* fileEntry({ path, size, sha256, mode, source }: FileToKeep): Generator<Uint8Array> {
  yield* tarHeader(path, size, (mode & ownerMayRun) !== 0)
  const digest = createHash("sha256")
  for (const chunk of chunksOf(source, size)) {
    digest.update(chunk)
    yield chunk
  }
  // the manifest is already written: an archive that contradicts it would be refused when it is needed
  if (digest.digest("hex") !== sha256) throw new Error(`Cannot back up ${path}: it changed while it was read. Repeat the backup.`)
  yield tarPadding(size)
}

function* archive(manifest: string, mark: string, { files, links }: Tree): Generator<Uint8Array> {
  yield* textEntry(manifestName, manifest)
  yield* textEntry(markName, mark)
  for (const file of files) yield* fileEntry(file)
  for (const { path, target } of links) yield* tarLink(path, target)
  yield tarEnd
}

/** Writes a backup into a new file, readable by its owner only. Standard gzip and tar can read it. */
export const writeArchive = (file: string, manifest: string, mark: string, tree: Tree): Promise<void> =>
  pipeline(
    Readable.from(archive(manifest, mark, tree), { objectMode: false }),
    // compression takes most of the time, and a higher level saves little
    createGzip({ level: 1, chunkSize: chunkBytes }),
    createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }),
  )
