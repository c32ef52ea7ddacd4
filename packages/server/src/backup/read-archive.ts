import { asDamage, type FileSink, gunzipped, Refusal, type TarEntry, tarWalk } from "@rangewright/adapter-git"
import { createHash } from "node:crypto"
import { closeSync, fchmodSync, mkdirSync, openSync, readSync, symlinkSync, writeSync } from "node:fs"
import { dirname, join } from "node:path"
import { type BackupFile, type BackupManifest, manifestName, markName, readManifest } from "./manifest.ts"

const mostManifestBytes = 256 * 1024 * 1024
const markBytes = 64

const refuse = (detail: string, item?: string): Refusal =>
  new Refusal({ type: "archive", reason: "broken", rule: "backup", detail, ...(item === undefined ? {} : { item }) })

/** The beginning of a backup: enough to identify it and the key it needs. */
export interface BackupHead {
  readonly manifest: BackupManifest
  /** The exact text, which the mark authenticates. */
  readonly text: string
  readonly mark: string
}

/** Kind of a file to be restored. */
export type FileKind = "archive" | "database" | "other"

/** Detects the kind by the first bytes. */
export const kindOf = (file: string): FileKind => {
  const start = Buffer.alloc(16)
  const fd = openSync(file, "r")
  try {
    readSync(fd, start)
  } finally {
    closeSync(fd)
  }
  if (start.toString("latin1") === "SQLite format 3\0") return "database"
  return start[0] === 0x1f && start[1] === 0x8b ? "archive" : "other"
}

/** The decompressed content. Throws a `Refusal` when it is damaged. */
async function* contentOf(file: string): AsyncGenerator<Buffer> {
  try {
    yield* gunzipped(file)
  } catch (cause) {
    throw asDamage(cause)
  }
}

/** Collects a text entry of an archive with a limited size. */
const textSink = (entry: TarEntry, most: number, use: (text: string) => void): FileSink => {
  if (entry.size > most) throw refuse(`its entry ${entry.path} has ${entry.size} bytes`)
  const parts: Uint8Array[] = []
  return {
    put: (chunk) => void parts.push(Uint8Array.from(chunk)),
    end: () => use(Buffer.concat(parts).toString("utf8")),
  }
}

const isPlainFile = ({ type }: TarEntry): boolean => type === "0"

/** Reads the beginning of a backup. Throws a `Refusal` when the file is not one. */
export const readHead = async (file: string): Promise<BackupHead> => {
  let [text, mark]: (string | undefined)[] = [undefined, undefined]
  const walk = tarWalk((entry) => {
    if (text === undefined) {
      if (entry.path !== manifestName || !isPlainFile(entry)) throw refuse("it does not start like a backup")
      return textSink(entry, mostManifestBytes, (whole) => void (text = whole))
    }
    if (mark !== undefined) return undefined
    if (entry.path !== markName || !isPlainFile(entry)) throw refuse("it has no authentication code after its manifest")
    return textSink(entry, markBytes, (whole) => void (mark = whole))
  })
  for await (const chunk of contentOf(file)) {
    walk.write(chunk)
    if (text !== undefined && mark !== undefined) return { manifest: readManifest(text), text, mark }
  }
  throw refuse("it is damaged or truncated")
}

const fileSink = (root: string, { path, size, sha256, mode }: BackupFile): FileSink => {
  const target = join(root, path)
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
  const fd = openSync(target, "wx", 0o600)
  const digest = createHash("sha256")
  let bytes = 0
  return {
    put: (chunk) => {
      digest.update(chunk)
      for (let at = 0; at < chunk.length;) at += writeSync(fd, chunk, at)
      bytes += chunk.length
    },
    end: () => {
      fchmodSync(fd, mode)
      closeSync(fd)
      if (bytes !== size || digest.digest("hex") !== sha256)
        throw refuse("a file differs from what was written into the backup", path)
    },
  }
}

/**
 * Unpacks a backup, whose beginning was read and verified, into an empty folder. Everything must match the manifest to the last byte and in
 * its order; links come last, so that nothing is written through one. After a `Refusal` the folder holds a part.
 */
export const unpackBackup = async (file: string, { manifest, text, mark }: BackupHead, root: string): Promise<void> => {
  const { files, links } = manifest
  let at = -2
  const same = (is: string) => (whole: string) => {
    if (whole !== is) throw refuse("it changed while it was read")
  }
  const take = (entry: TarEntry): FileSink | undefined => {
    const place = at++
    if (place === -2) return textSink(entry, mostManifestBytes, same(text))
    if (place === -1) return textSink(entry, markBytes, same(mark))
    const wanted = files[place]
    if (wanted !== undefined) {
      if (entry.path !== wanted.path || !isPlainFile(entry) || entry.size !== wanted.size)
        throw refuse("an entry differs from its manifest", entry.path)
      return fileSink(root, wanted)
    }
    const link = links[place - files.length]
    if (link === undefined || entry.type !== "2" || entry.path !== link.path)
      throw refuse("an entry differs from its manifest", entry.path)
    return undefined
  }
  const walk = tarWalk(take)
  for await (const chunk of contentOf(file)) walk.write(chunk)
  walk.end()
  if (at !== files.length + links.length) throw refuse("it ends before everything in its manifest")
  for (const { path, target } of links) {
    mkdirSync(dirname(join(root, path)), { recursive: true, mode: 0o700 })
    symlinkSync(target, join(root, path))
  }
}
