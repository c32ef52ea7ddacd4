import { constants } from "node:fs"
import { copyFile, link, open, rm } from "node:fs/promises"

const linkRefusals = new Set(["EPERM", "EXDEV", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"])

const codeOf = (cause: unknown): string => (cause instanceof Error && "code" in cause ? String(cause.code) : "")

/** Whether a hard link could not be made because the file system has none, or no more of this file. */
export const hasNoLinks = (cause: unknown): boolean => linkRefusals.has(codeOf(cause))

const sync = async (file: string): Promise<void> => {
  await using handle = await open(file, "r+")
  await handle.sync()
}

const syncedCopy = async (source: string, target: string): Promise<void> => {
  // what it wrote of a copy that fails is gone
  await copyFile(source, target, constants.COPYFILE_EXCL)
  try {
    await sync(target)
  } catch (cause) {
    await rm(target, { force: true })
    throw cause
  }
}

/**
 * Gives a whole file its name, in which it outlives a loss of power. Never replaces what has that name: then it is false. Where the file
 * system has no hard links the file is copied. The source stays.
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
