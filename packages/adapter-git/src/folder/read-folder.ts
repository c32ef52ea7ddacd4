import { isGitName } from "@rangewright/domain"
import { ContentFault, treeFault } from "@rangewright/ports"
import { constants } from "node:fs"
import { lstat, open, readdir, readlink, realpath } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { type Doing, outsideFolders, refused } from "../faults.ts"
import type { Settings } from "../options.ts"
import type { StagedTree } from "../store/staged-tree.ts"
import { insideOneOf, isInside } from "./roots.ts"

const setId = 0o6000

/** Opens a regular file that must be inside `root`, even if somebody moves folders and links meanwhile. */
const openInside = async (doing: Doing, root: string, path: string) => {
  const file = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const at = await realpath(`/proc/self/fd/${file.fd}`).catch(() => realpath(join(root, path)))
  const stat = await file.stat()
  if (isInside(root, at) && stat.isFile()) return { file, stat }
  await file.close()
  throw treeFault(doing, { rule: "special", path, detail: "it was replaced while it was read" })
}

const copyFile = async (doing: Doing, root: string, path: string, tree: StagedTree): Promise<void> => {
  const { file, stat } = await openInside(doing, root, path)
  try {
    if ((stat.mode & setId) !== 0) throw treeFault(doing, { rule: "set-id", path, detail: "the file changes its user or group" })
    const entry = { kind: "file", path, size: stat.size, executable: (stat.mode & 0o111) !== 0 } as const
    tree.admit(entry)
    await tree.write(entry, file.createReadStream({ autoClose: false }))
  } finally {
    await file.close()
  }
}

const copyBelow = async (doing: Doing, root: string, folder: string, tree: StagedTree, signal: AbortSignal): Promise<void> => {
  for (const name of (await readdir(join(root, folder))).toSorted()) {
    signal.throwIfAborted()
    const path = folder === "" ? name : `${folder}/${name}`
    tree.meet(path)
    if (isGitName(name)) continue
    const stat = await lstat(join(root, path))
    if (stat.isDirectory()) await copyBelow(doing, root, path, tree, signal)
    else if (stat.isSymbolicLink()) tree.admit({ kind: "link", path, target: await readlink(join(root, path)) })
    else if (stat.isFile()) await copyFile(doing, root, path, tree)
    else throw treeFault(doing, { rule: "special", path, detail: "it is neither a file, a folder nor a link" })
  }
}

/** Copies an allowed folder of this host into the tree, without Git's own folders. */
export const readFolder = async (
  doing: Doing,
  folder: string,
  settings: Settings,
  tree: StagedTree,
  signal: AbortSignal,
): Promise<void> => {
  if (!isAbsolute(folder) || folder.includes("\0")) throw refused(doing, "folder", "the path of a folder must be absolute")
  const root = await realpath(folder).catch(() => undefined)
  // the same answer for both, so that nobody can probe for folders outside
  if (root === undefined || !(await insideOneOf(settings.folders, root))) throw outsideFolders(doing)
  if (!(await lstat(root)).isDirectory()) throw new ContentFault({ doing, reason: "not-found", detail: "it is not a folder" })
  await copyBelow(doing, root, "", tree, signal)
}
