import { ContentFault } from "@rangewright/ports"
import { stat } from "node:fs/promises"
import { type Doing, refused } from "../faults.ts"
import type { StagedTree } from "../store/staged-tree.ts"
import { readTar } from "./read-tar.ts"
import { readZip } from "./read-zip.ts"

/** Even a tiny archive may grow to this: text packs well. */
const minAllowance = 16 * 1024 * 1024

/** What may come out of an archive of this size. */
export const allowanceOf = async (doing: Doing, file: string, ratio: number) => {
  const { size } = await stat(file).catch(() => {
    throw new ContentFault({ doing, reason: "not-found", rule: "archive", detail: "its file is not there" })
  })
  return {
    bytes: Math.max(minAllowance, size * ratio),
    detail: `the archive of ${size} bytes grows to more than ${ratio} times its size`,
  }
}

/** Reads an archive into the tree, in the format that its name tells. */
export const readArchive = (doing: Doing, file: string, name: string, tree: StagedTree, signal: AbortSignal): Promise<void> => {
  const lower = name.toLowerCase()
  if (lower.endsWith(".zip")) return readZip(doing, file, tree, signal)
  if (lower.endsWith(".tar.gz") || lower.endsWith(".tgz")) return readTar(doing, file, true, tree, signal)
  if (lower.endsWith(".tar")) return readTar(doing, file, false, tree, signal)
  throw refused(doing, "format", "its name tells no known format", "Use .tar.gz, .tgz, .tar or .zip.")
}
