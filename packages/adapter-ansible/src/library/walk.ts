import { byPath, defaultTreeLimits, isGitName, type TreeEntry } from "@rangewright/domain"
import { constants } from "node:fs"
import { lstat, open, readdir, readlink } from "node:fs/promises"
import { join } from "node:path"

/** A file or folder that cannot be part of an artifact. */
export class NotATree extends Error {}

const ownerMayRun = 0o100

/**
 * The files and links below a folder, sorted by path. Links are listed, never followed; Git's own folders are left out. Throws `NotATree`
 * for other kinds of files, and for more than a tree may hold.
 */
export const walk = async (folder: string): Promise<readonly TreeEntry[]> => {
  const entries: TreeEntry[] = []
  const visit = async (below: string, depth: number): Promise<void> => {
    if (depth > defaultTreeLimits.depth) throw new NotATree(`${below} is too deep`)
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      if (isGitName(entry.name)) continue
      const path = below === "" ? entry.name : `${below}/${entry.name}`
      if (entries.length >= defaultTreeLimits.files) throw new NotATree(`it has more than ${defaultTreeLimits.files} files`)
      if (entry.isDirectory()) await visit(path, depth + 1)
      else if (entry.isSymbolicLink()) entries.push({ kind: "link", path, target: await readlink(join(folder, path)) })
      else if (entry.isFile()) {
        const { size, mode } = await lstat(join(folder, path))
        entries.push({ kind: "file", path, size, executable: (mode & ownerMayRun) !== 0 })
      } else throw new NotATree(`${path} is neither a file, a folder nor a link`)
    }
  }
  await visit("", 0)
  return entries.toSorted(byPath)
}

/** The bytes of a regular file; its name must not be a link. Throws when it is larger than `most`. */
export const readPlainFile = async (path: string, most: number): Promise<Uint8Array> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new NotATree("it is not a file")
    if (stat.size > most) throw new NotATree(`it is larger than ${most} bytes`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
