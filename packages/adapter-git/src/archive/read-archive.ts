import type { TreeLimits } from "@rangewright/domain"
import { ContentFault } from "@rangewright/ports"
import { stat } from "node:fs/promises"
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

export interface ArchiveToRead {
  readonly file: string
  /** The file name, whose ending gives the format. */
  readonly name: string
  readonly unwrap?: Unwrap
}

/** Unpacks an archive into the tree of a staged folder. Calls `onFiles` with the number of files written. */
export const readArchive = async (
  doing: Doing,
  { file, name, unwrap }: ArchiveToRead,
  staged: string,
  { tree: limits, archiveRatio }: { readonly tree: TreeLimits; readonly archiveRatio: number },
  onFiles: (done: number) => void,
  signal: AbortSignal,
): Promise<FinishedTree> => {
  const format = formatOf(doing, name)
  const allowance = await allowanceOf(doing, file, archiveRatio)
  return unpack({ file, format, staged, limits, allowance, unwrap }, onFiles, signal)
}
