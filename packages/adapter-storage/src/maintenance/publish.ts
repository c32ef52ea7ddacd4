import { constants } from "node:fs"
import { copyFile, link, open, rm } from "node:fs/promises"

const linkRefusals = new Set(["EPERM", "EXDEV", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])

const codeOf = (cause: unknown): string => (cause instanceof Error && "code" in cause ? String(cause.code) : "")

/** Whether a hard link failed because the file system does not support them, or no more of them for this file. */
export const hasNoLinks = (cause: unknown): boolean => linkRefusals.has(codeOf(cause))

const sync = async (file: string): Promise<void> => {
  await using handle = await open(file, "r+")
  await handle.sync()
}

const syncedCopy = async (source: string, target: string): Promise<void> => {
  // a failed copy leaves nothing behind
  await copyFile(source, target, constants.COPYFILE_EXCL)
  try {
    await sync(target)
  } catch (cause) {
    await rm(target, { force: true })
    throw cause
  }
}

/**
 * Gives a complete file its final name, durably. Never replaces an existing file of that name: returns false instead. The file is copied
 * when the file system has no hard links. The source stays.
 */
export const publishFile = async (source: string, target: string): Promise<boolean> => {
  await sync(source)
  try {
    await link(source, target).catch((cause: unknown) => {
      if (hasNoLinks(cause)) return syncedCopy(source, target)
      throw cause
    })
    return true
  } catch (cause) {
    if (codeOf(cause) === "EEXIST") return false
    throw cause
  }
}
