import type { TreeLimits } from "@rangewright/domain"
import { ContentFault } from "@rangewright/ports"
import { open, stat } from "node:fs/promises"
import { type Doing, refused } from "../faults.ts"
import type { Allowance, FinishedTree, Unwrap } from "../store/tree-account.ts"
import { unpack } from "./unpack.ts"
import type { ArchiveFormat } from "./unpack-job.ts"

/** Even a tiny archive may expand to this: text compresses well. */
const minAllowance = 16 * 1024 * 1024

/** Bytes that an archive of this size may expand to. */
const allowanceOf = async (doing: Doing, file: string, ratio: number): Promise<Allowance> => {
  const { size } = await stat(file).catch(() => {
    throw new ContentFault({ doing, reason: "not-found", rule: "archive", detail: "its file does not exist" })
  })
  return {
    bytes: Math.max(minAllowance, size * ratio),
    detail: `the archive of ${size} bytes grows to more than ${ratio} times its size`,
  }
}

const formatOf = (doing: Doing, name: string): ArchiveFormat => {
  const ending = /\.(?:zip|tar|tar\.gz|tgz)$/u.exec(name.toLowerCase())?.[0]
  if (ending === undefined)
    throw refused(doing, "format", "its name has no known file extension", "Use .tar.gz, .tgz, .tar or .zip.")
  return ending === ".zip" ? "zip" : ending === ".tar" ? "tar" : "tar.gz"
}

/** The first bytes by which a format is recognized. A tar has none: it begins with the name of its first file. */
const marks: readonly (readonly [what: ArchiveFormat | "bzip2" | "xz" | "zstd", start: Buffer])[] = [
  ["tar.gz", Buffer.from([0x1f, 0x8b])],
  ["zip", Buffer.from("PK\x03\x04")],
  ["zip", Buffer.from("PK\x05\x06")],
  ["bzip2", Buffer.from("BZh")],
  ["xz", Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0])],
  ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
]

const formatIn = async (doing: Doing, path: string): Promise<ArchiveFormat> => {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0)
    const [what = "tar"] = marks.find(([, start]) => buffer.indexOf(start) === 0) ?? []
    if (what === "tar" || what === "tar.gz" || what === "zip") return what
    throw refused(doing, "format", `it is compressed with ${what}`, "Send a tar, a gzipped tar or a zip.")
  } finally {
    await file.close()
  }
}

export interface ArchiveToRead {
  readonly file: string
  /** The file name, whose ending gives the format. */
  readonly name: string
  /** The content gives the format instead. */
  readonly byContent?: true
  readonly unwrap?: Unwrap
}

/** Unpacks an archive into the tree of a staged folder. Calls `onFiles` with the number of files written. */
export const readArchive = async (
  doing: Doing,
  { file, name, byContent, unwrap }: ArchiveToRead,
  staged: string,
  { tree: limits, archiveRatio }: { readonly tree: TreeLimits; readonly archiveRatio: number },
  onFiles: (done: number) => void,
  signal: AbortSignal,
): Promise<FinishedTree> => {
  const named = byContent === true ? undefined : formatOf(doing, name)
  const allowance = await allowanceOf(doing, file, archiveRatio)
  const format = named ?? (await formatIn(doing, file))
  return unpack({ file, format, staged, limits, allowance, unwrap }, onFiles, signal)
}
