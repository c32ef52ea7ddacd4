import { ContentFault, treeFault } from "@rangewright/ports"
import { once } from "node:events"
import { createReadStream } from "node:fs"
import { pipeline, type Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import { Parser, type ReadEntry } from "tar"
import type { Doing } from "../faults.ts"
import type { StagedTree } from "../store/staged-tree.ts"
import { entryPath, executableBits, setIdBits } from "./entry-name.ts"

const maxMetaBytes = 64 * 1024

const damaged = (doing: Doing, detail: string, item?: string): ContentFault =>
  new ContentFault({ doing, reason: "broken", rule: "archive", detail, ...(item === undefined ? {} : { item }) })

const fileTypes: ReadonlySet<string> = new Set(["File", "OldFile", "ContiguousFile"])

const takeEntry = async (doing: Doing, entry: ReadEntry, tree: StagedTree): Promise<void> => {
  tree.meet(entry.path)
  const path = entryPath(entry.path)
  if (entry.type === "Directory" || path === undefined) {
    entry.resume()
  } else if (fileTypes.has(entry.type)) {
    const mode = entry.mode ?? 0
    if ((mode & setIdBits) !== 0) throw treeFault(doing, { rule: "set-id", path, detail: "the file changes its user or group" })
    const file = { kind: "file", path, size: entry.size, executable: (mode & executableBits) !== 0 } as const
    tree.admit(file)
    await tree.write(file, entry)
  } else if (entry.type === "SymbolicLink") {
    entry.resume()
    tree.admit({ kind: "link", path, target: entry.linkpath ?? "" })
  } else {
    const detail = entry.type === "Link" ? "it is a hard link; pack the file itself" : "it is neither a file, a folder nor a link"
    throw treeFault(doing, { rule: "special", path, detail })
  }
}

/** The bytes of the tar itself. A tar in a tar's place (gzip in gzip) is not opened again. */
async function* plainTar(
  doing: Doing,
  file: string,
  gzipped: boolean,
  most: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const source: Readable = createReadStream(file, { signal })
  // the pipeline's failure shows where its output is read
  const output: Readable = gzipped ? pipeline(source, createGunzip(), () => {}) : source
  let [first, bytes] = [true, 0]
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      if (first && (chunk.indexOf(Buffer.from([0x1f, 0x8b])) === 0 || chunk.indexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])) === 0))
        throw damaged(doing, "inside is no tar but something compressed")
      first = false
      bytes += chunk.length
      if (bytes > most)
        throw new ContentFault({
          doing,
          reason: "too-large",
          rule: "tree-too-large",
          detail: `unpacked it is larger than ${most} bytes`,
        })
      yield chunk
    }
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code?.startsWith("Z_") === true ? damaged(doing, "it is damaged or cut off") : cause
  } finally {
    source.destroy()
    output.destroy()
  }
}

/** Reads a tar, gzipped or not, entry by entry from disk. */
export const readTar = async (
  doing: Doing,
  file: string,
  gzipped: boolean,
  tree: StagedTree,
  signal: AbortSignal,
): Promise<void> => {
  const parser = new Parser({ maxMetaEntrySize: maxMetaBytes, maxDecompressionRatio: Number.MAX_SAFE_INTEGER })
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  // the parser gives the next entry when this one was read to its end
  let taken = Promise.resolve()
  parser.on("entry", (entry: ReadEntry) => {
    taken = takeEntry(doing, entry, tree)
    taken.catch(failed.reject)
  })
  parser.on("ignoredEntry", (entry: ReadEntry) =>
    failed.reject(damaged(doing, "its kind is unknown or its description too long", entryPath(entry.path) ?? entry.path)),
  )
  parser.on("warn", (code: string, message: string | Error) =>
    failed.reject(damaged(doing, `it is damaged or cut off (${message instanceof Error ? message.message : message || code})`)),
  )
  parser.on("error", failed.reject)
  const ended = once(parser, "end")
  ended.catch(() => {})
  for await (const chunk of plainTar(doing, file, gzipped, tree.tarBytes, signal))
    await Promise.race([parser.write(chunk) ? undefined : once(parser, "drain"), failed.promise])
  parser.end()
  await Promise.race([ended, failed.promise])
  await Promise.race([taken, failed.promise])
}
