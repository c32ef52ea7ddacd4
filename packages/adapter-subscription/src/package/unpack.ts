import { byPath, type TreeEntry, treeIntake, type TreeLimits, type TreeProblem } from "@rangewright/domain"
import type { ArtifactEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { promisify } from "node:util"
import { gunzip as gunzipCallback } from "node:zlib"
import { Parser, type ReadEntry } from "tar"
import { type Doing, fault } from "../faults.ts"

const gunzip = promisify(gunzipCallback)

const maxMetaBytes = 64 * 1024
const headerBytes = 1024
const setIdBits = 0o6000
const executableBits = 0o111
const fileTypes: ReadonlySet<string> = new Set(["File", "OldFile", "ContiguousFile"])

const tooLarge: ReadonlySet<TreeProblem["rule"]> = new Set(["too-many-files", "file-too-large", "tree-too-large"])

/** Opens the compression; a package that grows past what its tree may have ends there, whatever it says of itself. */
const plainTar = async (doing: Doing, packed: Uint8Array, limits: TreeLimits): Promise<Buffer> => {
  const most = limits.totalBytes + limits.files * headerBytes
  return gunzip(packed, { maxOutputLength: most }).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === "ERR_BUFFER_TOO_LARGE"
      ? fault(doing, "too-large", `unpacked it is larger than ${most} bytes`)
      : fault(doing, "broken", "it is no gzipped tar, or cut off")
  })
}

interface Taken {
  readonly entry: TreeEntry
  readonly chunks: Buffer[]
}

/** The entries of a tar as a tree of files takes them. Throws the fault of the first that may not be taken. */
const readTar = (doing: Doing, tar: Buffer, limits: TreeLimits): readonly Taken[] => {
  const intake = treeIntake(limits)
  const taken: Taken[] = []
  let [failure, entries, read, ended]: [Error | undefined, number, number, boolean] = [undefined, 0, 0, false]
  const refuse = (path: string, detail: string): void =>
    void (failure ??= fault(doing, "broken", `${JSON.stringify(path.slice(0, 200))}: ${detail}`))
  const check = (problem: TreeProblem | undefined): boolean => {
    if (problem === undefined) return true
    if (tooLarge.has(problem.rule)) failure ??= fault(doing, "too-large", problem.detail)
    else refuse(problem.path, problem.detail)
    return false
  }
  const take = (entry: ReadEntry): void => {
    entries += 1
    const path = entry.path.replace(/^(?:\.\/+)+/u, "").replace(/\/+$/u, "")
    if (entries > 4 * limits.files) return refuse(path, "there are too many entries")
    if (entry.type === "Directory") return
    if (entry.type === "SymbolicLink") {
      const link = { kind: "link", path, target: entry.linkpath ?? "" } as const
      if (check(intake.admit(link))) taken.push({ entry: link, chunks: [] })
      return
    }
    if (!fileTypes.has(entry.type)) return refuse(path, "it is neither a file, a folder nor a symbolic link")
    const mode = entry.mode ?? 0
    if ((mode & setIdBits) !== 0) return refuse(path, "the file changes its user or group")
    const file = { kind: "file", path, size: entry.size, executable: (mode & executableBits) !== 0 } as const
    if (!check(intake.admit(file)) || !check(intake.count(path, entry.size, entry.size))) return
    const chunks: Buffer[] = []
    taken.push({ entry: file, chunks })
    entry.on("data", (chunk: Buffer) => {
      read += chunk.length
      chunks.push(chunk)
    })
  }
  const parser = new Parser({ maxMetaEntrySize: maxMetaBytes, maxDecompressionRatio: Number.MAX_SAFE_INTEGER })
  parser.on("entry", (entry: ReadEntry) => {
    if (failure === undefined) take(entry)
    entry.resume()
  })
  parser.on("ignoredEntry", (entry: ReadEntry) => refuse(entry.path, "its kind is unknown or its description too long"))
  parser.on("warn", (code: string, message: string | Error) => refuse("", message instanceof Error ? message.message : code))
  parser.on("error", (cause: Error) => void (failure ??= fault(doing, "broken", cause.message)))
  parser.on("end", () => void (ended = true))
  // it reads a whole buffer in one go
  parser.end(tar)
  check(intake.finish())
  if (failure !== undefined) throw failure
  const size = taken.reduce((sum, { entry }) => sum + (entry.kind === "file" ? entry.size : 0), 0)
  if (!ended || read !== size) throw fault(doing, "broken", "its last file is cut off")
  return taken
}

/** The files of a package, held in memory; its root is the role's. Throws a `SubscriptionFault`. */
export const unpack = async (doing: Doing, packed: Uint8Array, limits: TreeLimits): Promise<readonly ArtifactEntry[]> => {
  const tar = await plainTar(doing, packed, limits)
  if (
    tar.length < 512 ||
    tar.indexOf(Buffer.from([0x1f, 0x8b])) === 0 ||
    tar.indexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])) === 0
  )
    throw fault(doing, "broken", "inside is no tar")
  const taken = readTar(doing, tar, limits)
  if (taken.length === 0) throw fault(doing, "broken", "it holds no file")
  return taken
    .map(({ entry, chunks }): ArtifactEntry => {
      const bytes = Buffer.concat(chunks)
      return entry.kind === "link" ? entry : { ...entry, read: Effect.succeed(bytes) }
    })
    .toSorted(byPath)
}
