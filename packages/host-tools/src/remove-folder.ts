import { execFile } from "node:child_process"
import { rm } from "node:fs/promises"
import { systemPath } from "./places.ts"

/** Walks from folder to folder, whatever the whole path's length is, and follows no link. */
const thorough = `chmod -R u+rwx -- "$1"
exec rm -rf -- "$1"`

/**
 * Removes a folder that a tool could write to, with everything in it. Tools leave what cannot be removed by its path: folders so deep that no
 * path is long enough, and such as their owner may not enter. Fails with what stays.
 */
export const removeFolder = async (path: string): Promise<void> => {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 5 })
  } catch {
    await new Promise<void>((resolve, reject) => {
      const end = (error: Error | null): void => (error === null ? resolve() : reject(error))
      execFile("/bin/sh", ["-c", thorough, "sh", path], { env: { PATH: systemPath, LC_ALL: "C.UTF-8" }, cwd: "/" }, end)
    })
  }
}
